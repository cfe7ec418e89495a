"""The way of an answer to the server: the request's id is put into it, a framework's own failure into our form."""

from msgspec import Struct
from msgspec.structs import replace

from seamwise.seams.http.allow_header import allowed_methods
from seamwise.seams.http.exchange import Message, Scope, Send, exchange_of, header
from seamwise.seams.http.framework import answered_by_framework
from seamwise.seams.http.negotiation import negotiated
from seamwise.seams.http.response import raw_response
from seamwise.seams.http.shape import HttpError

_LOWEST, _METHOD_NOT_ALLOWED, _DEFECT = 400, 405, 500
_FRAMEWORKS = {None, '', 'text/plain', 'application/json'}
_OF_THE_BODY = {b'content-type', b'content-length', b'content-encoding', b'transfer-encoding'}


class _Held(Struct):
    """The beginning of an answer that may be a framework's own failure, and as much of its body as has come."""

    start: Message
    body: bytearray

    @property
    def status(self) -> int:
        """The status that it would have."""
        status: int = self.start['status']
        return status


class Sender:
    """Stands where `send` did; a failure that looks like a framework's own waits here until its body is whole."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        # Inside of a mount the path is another one, and the routes outside of it do not matter.
        self._root = scope.get('root_path')
        self._exchange = exchange_of(scope)
        self._send = send
        self._held: _Held | None = None
        self.has_begun = False
        self.gone: OSError | None = None

    async def __call__(self, message: Message) -> None:
        """Send a message of ASGI on, or hold it."""
        if message['type'] == 'http.response.start':
            if self._is_suspect(message):
                self._held = _Held(message, bytearray())
                return
            await self._begin(message)
        elif self._held is None:
            await self._pass(message)
        elif message['type'] == 'http.response.body':
            self._held.body += message.get('body', b'')
            # Of a 500 it will show at the end only whether an exception stands behind it.
            if not message.get('more_body') and self._held.status != _DEFECT:
                await self.release()
        else:
            # A file by its path, or what else some servers take: no framework tells a failure so.
            await self._let_go()
            await self._pass(message)

    def _is_suspect(self, start: Message) -> bool:
        status, headers = start['status'], start.get('headers', ())
        # A body of undeclared length is a stream: a framework's own failure is none.
        if (
            self._exchange.is_answered
            or status < _LOWEST
            or header(headers, b'content-length') is None
        ):
            return False
        kind = (header(headers, b'content-type') or '').partition(';')[0].strip().lower()
        return status == _DEFECT or (
            kind in _FRAMEWORKS and header(headers, b'content-encoding') is None
        )

    async def release(self) -> None:
        """Answer with what is held, in our form where it is a framework's own; a 500 of that kind is still held after this."""
        if self._held is None:
            return
        error = self._framework_error()
        if error is None:
            body = await self._let_go()
            await self._pass({'type': 'http.response.body', 'body': body})
        elif error.status != _DEFECT:
            await self.answer(error)

    def _framework_error(self) -> HttpError | None:
        if self._held is None:
            return None
        headers = {
            name.decode('latin-1').lower(): value.decode('latin-1')
            for name, value in self._held.start.get('headers', ())
        }
        error = answered_by_framework(self._held.status, headers, bytes(self._held.body))
        return (
            self._with_methods(error, headers.get('allow', ''))
            if error and error.status == _METHOD_NOT_ALLOWED
            else error
        )

    def _with_methods(self, error: HttpError, allow: str) -> HttpError:
        others = (
            allowed_methods(self._scope)
            if self._scope.get('root_path') == self._root
            else set[str]()
        )
        methods = others | {one.strip() for one in allow.split(',') if one.strip()}
        return replace(error, headers={**error.headers, 'Allow': ', '.join(sorted(methods))})

    @property
    def unexplained(self) -> str | None:
        """What a 500 that is held says of itself, None where none is."""
        error = self._framework_error()
        return None if error is None else error.message

    async def _let_go(self) -> bytes:
        if self._held is None:
            return b''
        held, self._held = self._held, None
        await self._begin(held.start)
        return bytes(held.body)

    async def answer(self, error: HttpError) -> None:
        """Answer with an error in the form that the client asks for, with the headers of what is held."""
        kept = self._held.start.get('headers', ()) if self._held else ()
        self._held = None
        made = raw_response(
            error,
            request_id=self._exchange.request_id,
            body=negotiated,
            accept=self._exchange.accept,
        )
        names = {*_OF_THE_BODY, *(name for name, _ in made.headers)}
        others = [(name, value) for name, value in kept if name.lower() not in names]
        length = (b'content-length', b'%d' % len(made.body))
        await self._begin(
            {
                'type': 'http.response.start',
                'status': made.status,
                'headers': [*others, *made.headers, length],
            }
        )
        await self._pass({'type': 'http.response.body', 'body': made.body})

    async def _begin(self, start: Message) -> None:
        headers = list(start.get('headers', ()))
        if not any(name.lower() == b'x-request-id' for name, _ in headers):
            headers.append((b'x-request-id', self._exchange.request_id.encode('latin-1')))
        self.has_begun = True
        await self._pass({**start, 'headers': headers})

    async def _pass(self, message: Message) -> None:
        try:
            await self._send(message)
        except OSError as gone:
            # That is how a server says that the client is gone (ASGI, HTTP connection scope 2.4).
            self.gone = gone
            raise
