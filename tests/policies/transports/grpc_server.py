"""A real gRPC server in this process, which answers as a test says."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal

import grpc
from typing_extensions import override

Answer = grpc.StatusCode | Literal['hang', 'defect']

GET = '/shop.Billing/Get'
PAY = '/shop.Billing/Pay'
PATIENCE = 10.0
"""Seconds after which a test with a mistake ends."""


class Server(grpc.GenericRpcHandler):
    """Answers with the statuses in its list, the last one for ever, and records the calls.

    The response is the request with the number of the call.
    """

    def __init__(self) -> None:
        self.target = ''
        self.answers: list[Answer] = [grpc.StatusCode.OK]
        self.trailers: tuple[tuple[str, str], ...] = ()
        self.methods: list[str] = []
        self.metadata: dict[str, str | bytes] = {}
        self.time_remaining: float | None = None
        self.has_begun = threading.Event()
        self.has_been_cancelled = threading.Event()
        self.can_end = threading.Event()

    @override
    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[bytes, bytes]:
        method = handler_call_details.method

        def get(request: bytes, context: grpc.ServicerContext) -> bytes:
            self.methods.append(method)
            self.metadata = {pair[0]: pair[1] for pair in context.invocation_metadata()}
            self.time_remaining = context.time_remaining()
            context.send_initial_metadata((('number', str(len(self.methods))),))
            context.set_trailing_metadata((*self.trailers, ('cost', str(len(self.methods)))))
            return self._answer(request, context)

        def stream(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
            self.methods.append(method)
            yield from requests
            if self.answers[0] is grpc.StatusCode.UNAVAILABLE:
                context.abort(grpc.StatusCode.UNAVAILABLE, 'interrupted')

        def repeat(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            return stream(iter([request] * 2), context)

        def join(requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
            return b''.join(stream(requests, context))

        match method:
            case '/shop.Billing/Both':
                return grpc.stream_stream_rpc_method_handler(stream)
            case '/shop.Billing/List':
                return grpc.unary_stream_rpc_method_handler(repeat)
            case '/shop.Billing/Sum':
                return grpc.stream_unary_rpc_method_handler(join)
            case _:
                return grpc.unary_unary_rpc_method_handler(get)

    def _answer(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        number = len(self.methods)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.has_begun.set()
        if answer == 'hang':
            if not context.add_callback(self.has_been_cancelled.set):
                self.has_been_cancelled.set()
            self.can_end.wait(PATIENCE)
        elif answer == 'defect':
            raise ZeroDivisionError
        elif answer is not grpc.StatusCode.OK:
            context.abort(answer, f'call {number}')
        return request + b' %d' % number


def unary(channel: Any, method: str = GET, **serializers: Any) -> Any:
    """Return a method of a channel, without its type: that of grpc is incomplete."""
    return channel.unary_unary(method, **serializers)


@contextmanager
def run_server(address: str = '127.0.0.1:0') -> Generator[Server]:
    """Run a server inside a `with` block."""
    handler = Server()
    with ThreadPoolExecutor(8) as pool:
        server = grpc.server(pool, handlers=[handler])
        handler.target = f'127.0.0.1:{server.add_insecure_port(address)}'
        server.start()
        try:
            yield handler
        finally:
            handler.can_end.set()
            server.stop(None).wait()
