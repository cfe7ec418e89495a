"""Stored form of errors in session messages: a name and data."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Literal, get_args

from msgspec import Struct

from seamwise._errors.errors import TaggedError, retry_after
from seamwise._text.phrases import join_quoted
from seamwise.catalog.access import Unauthenticated
from seamwise.catalog.agents import AgentNotFound, CommandNotFound, ContextOverflow
from seamwise.catalog.models import (
    ContentFiltered,
    ContextTooLong,
    ModelError,
    ModelNotFound,
    OutputTruncated,
    StructuredOutputInvalid,
)
from seamwise.catalog.network import CredentialsRejected, NetworkError, UpstreamFailed
from seamwise.catalog.streaming import StreamAborted, UserInterrupted
from seamwise.redaction import redact
from seamwise.seams.rendering.encoding import to_json
from seamwise.seams.rendering.errors import public_fields, safe_public_message
from seamwise.seams.rendering.values import drop_none, milliseconds_or_none, safe_items, safe_text

_API_ERRORS = {
    kind: 'APIError'
    for kind in (*get_args(ModelError), *get_args(NetworkError))
    if kind is not ModelNotFound
}

STORED_NAMES: Mapping[type, str] = MappingProxyType(
    {
        **_API_ERRORS,
        CredentialsRejected: 'ProviderAuthError',
        Unauthenticated: 'ProviderAuthError',
        OutputTruncated: 'MessageOutputLengthError',
        StreamAborted: 'MessageAbortedError',
        UserInterrupted: 'MessageAbortedError',
        StructuredOutputInvalid: 'StructuredOutputError',
        ContextTooLong: 'ContextOverflowError',
        ContextOverflow: 'ContextOverflowError',
        ContentFiltered: 'ContentFilterError',
    }
)
"""Names of errors that are not stored under their own tag."""


class StoredError(Struct, frozen=True):
    """An error in a stored message; `data` contains a `message`, unless the name is sufficient."""

    name: str
    data: Mapping[str, object]

    @staticmethod
    def of(error: TaggedError) -> 'StoredError':
        """Return the stored form of an error, under one of the eight known names or its own tag.

        Under its own tag, an error keeps its fields, but no cause, secrets and internal fields.

        >>> from seamwise.catalog.models import ProviderUnavailable
        >>> StoredError.of(ProviderUnavailable('acme', retry_after=1.5)).data['isRetryable']
        True
        >>> StoredError.of(AgentNotFound('plan', ('build',))).name
        'AgentNotFound'
        """
        if isinstance(error, ModelNotFound):
            return StoredError.model_not_found(error)
        if isinstance(error, AgentNotFound | CommandNotFound):
            return _not_found(error)
        # seamwise: allow[SW107] errors without a stored name keep their own tag and their fields
        name = STORED_NAMES.get(type(error), error.tag)
        if name == 'MessageOutputLengthError':
            return StoredError(name, {})
        data = public_fields if name == error.tag else _DATA.get(name, lambda _: {})
        return StoredError(name, {'message': safe_public_message(error), **data(error)})

    @staticmethod
    def unknown(message: str) -> 'StoredError':
        """Return the stored form of an error that is only a text.

        >>> StoredError.unknown('The share could not be made.')
        StoredError(name='UnknownError', data={'message': 'The share could not be made.'})
        """
        return StoredError('UnknownError', {'message': safe_text(message)})

    @staticmethod
    def agent_not_found(agent: str, available: Iterable[str]) -> 'StoredError':
        """Return the stored form of an unknown agent; the message lists the available ones.

        >>> StoredError.agent_not_found('plan', ('build', 'review')).data['message']
        "There is no agent 'plan'. Available: 'build' and 'review'."
        """
        return _not_found(AgentNotFound(agent, tuple(available)))

    @staticmethod
    def command_not_found(command: str, available: Iterable[str]) -> 'StoredError':
        """Return the stored form of an unknown command; the message lists the available ones.

        >>> StoredError.command_not_found('shp', ()).data['message']
        "There is no command 'shp'."
        """
        return _not_found(CommandNotFound(command, tuple(available)))

    @staticmethod
    def model_not_found(error: ModelNotFound) -> 'StoredError':
        """Return the stored form of an unknown model; the message has suggestions.

        >>> error = ModelNotFound('acme', 'large-2', ('large-3',))
        >>> StoredError.model_not_found(error).data['message']
        "acme has no model 'large-2'. Did you mean 'large-3'?"
        """
        ids: dict[str, object] = {
            'providerID': error.provider,
            'modelID': error.model,
            'suggestions': error.suggestions,
        }
        question = (
            f' Did you mean {join_quoted(map(redact, error.suggestions))}?'
            if error.suggestions
            else ''
        )
        return StoredError(
            error.tag,
            {'message': safe_text(safe_public_message(error) + question), **safe_items(ids)},
        )

    def event(self, session_id: str | None = None) -> 'StoredErrorEvent':
        """Return the event `session.error` of this error; `encode` writes it as JSON.

        Args:
            session_id: Id of the session; None if the error belongs to none.

        >>> event = StoredError.unknown('The share could not be made.').event('s-1')
        >>> event.type, event.properties.sessionID, event.properties.error.name
        ('session.error', 's-1', 'UnknownError')
        """
        return StoredErrorEvent(properties=ErrorProperties(sessionID=session_id, error=self))


class ErrorProperties(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Properties of a `session.error`: the session, if there is one, and the stored error."""

    sessionID: str | None = None  # noqa: N815 -- the key of the wire
    error: StoredError


class StoredErrorEvent(Struct, frozen=True, kw_only=True):
    """Event that reports a stored error to the clients of a session."""

    type: Literal['session.error'] = 'session.error'
    properties: ErrorProperties


def _provider_data(error: TaggedError) -> dict[str, object]:
    fields = public_fields(error)
    return {'providerID': fields.get('service', fields.get('scheme'))}


def _retry_data(_: TaggedError) -> dict[str, object]:
    # Readers require the key; the number of retries is known to the guard, not to the error.
    return {'retries': 0}


def _api_data(error: TaggedError) -> dict[str, object]:
    """Return the status of a service, and all other public fields as texts in `metadata`."""
    fields = public_fields(error)
    status = fields.pop('status') if isinstance(error, UpstreamFailed) else None
    fields['retry_after_ms'] = milliseconds_or_none(retry_after(error))
    fields.pop('retry_after', None)
    metadata = {
        name: _as_text(value)
        for name, value in drop_none({'error_type': error.tag, **fields}).items()
    }
    return drop_none(
        {
            'statusCode': status,
            'isRetryable': error.retryable,
            'metadata': metadata,
        }
    )


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else to_json(value).decode()


_DATA: Mapping[str, Callable[[TaggedError], dict[str, object]]] = MappingProxyType(
    {
        'ProviderAuthError': _provider_data,
        'StructuredOutputError': _retry_data,
        'APIError': _api_data,
    }
)


def _not_found(error: AgentNotFound | CommandNotFound) -> StoredError:
    available = (
        f' Available: {join_quoted(map(redact, error.available), last="and")}.'
        if error.available
        else ''
    )
    return StoredError(
        error.tag,
        {'message': safe_text(safe_public_message(error) + available), **public_fields(error)},
    )
