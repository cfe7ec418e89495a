"""Errors as a session stores them beside its messages: a name, and data, mostly with the message in it."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import get_args

from msgspec import Struct

from seamwise._text.jsonable import to_json
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
from seamwise.errors import TaggedError, retry_after
from seamwise.redaction import redact
from seamwise.seams._common import (
    drop_none,
    message_of,
    milliseconds_or_none,
    public_fields,
    safe_items,
    safe_text,
)


class NamedMessage(Struct, frozen=True):
    """An error in a stored message; `data` has a `message`, but where the name says all."""

    name: str
    data: Mapping[str, object]


_OF_CALLS = dict.fromkeys((*get_args(ModelError), *get_args(NetworkError)), 'APIError')

NAMES: Mapping[type, str] = MappingProxyType(
    {
        **_OF_CALLS,
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
"""What an error is called where it is not stored under its own tag."""


def message(error: TaggedError) -> NamedMessage:
    """Give the stored form of an error: one of the names that readers of session messages know, or its own tag.

    Under its own tag an error keeps its fields, but for its cause and its secrets.

    >>> from seamwise.catalog.models import ProviderUnavailable
    >>> message(ProviderUnavailable('acme', retry_after=1.5)).data['isRetryable']
    True
    >>> message(AgentNotFound('plan', ('build',))).name
    'AgentNotFound'
    """
    # seamwise: allow[SW107] whatever has no name there, what is still to come too, is stored under its own tag, with its fields
    name = NAMES.get(type(error), error.tag)
    if name == 'MessageOutputLengthError':
        return NamedMessage(name, {})
    more = public_fields if name == error.tag else _MORE.get(name, _nothing)
    return NamedMessage(name, {'message': message_of(error), **more(error)})


def _nothing(_: TaggedError) -> dict[str, object]:
    return {}


def _provider(error: TaggedError) -> dict[str, object]:
    known = public_fields(error)
    return {'providerID': known.get('service', known.get('scheme'))}


def _retries(_: TaggedError) -> dict[str, object]:
    # How often the model was asked again is the guard's to know, not the error's.
    return {'retries': 0}


def _api(error: TaggedError) -> dict[str, object]:
    """Tell what a service said, and in `metadata`, each as a text, what else the error knows."""
    known = public_fields(error)
    status, body = (
        (known.pop('status'), known.pop('excerpt'))
        if isinstance(error, UpstreamFailed)
        else (None, None)
    )
    known['retry_after_ms'] = milliseconds_or_none(retry_after(error))
    known.pop('retry_after', None)
    metadata = {
        name: _as_text(value)
        for name, value in drop_none({'error_type': error.tag, **known}).items()
    }
    return drop_none(
        {
            'statusCode': status,
            'isRetryable': error.retryable,
            'responseBody': body,
            'metadata': metadata,
        }
    )


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else to_json(value).decode()


_MORE: Mapping[str, Callable[[TaggedError], dict[str, object]]] = MappingProxyType(
    {'ProviderAuthError': _provider, 'StructuredOutputError': _retries, 'APIError': _api}
)


def unknown(message: str) -> NamedMessage:
    """Give the stored form of what is told by a text only.

    >>> unknown('The share could not be made.')
    NamedMessage(name='UnknownError', data={'message': 'The share could not be made.'})
    """
    return NamedMessage('UnknownError', {'message': safe_text(message)})


def agent_not_found(agent: str, available: Iterable[str]) -> NamedMessage:
    """Give the stored form of a wrong agent's name; the message tells which ones there are.

    >>> agent_not_found('plan', ('build', 'review')).data['message']
    "There is no agent 'plan'. Available: 'build' and 'review'."
    """
    return _not_found(AgentNotFound(agent, tuple(available)))


def command_not_found(command: str, available: Iterable[str]) -> NamedMessage:
    """Give the stored form of a wrong command's name; the message tells which ones there are.

    >>> command_not_found('shp', ()).data['message']
    "There is no command 'shp'."
    """
    return _not_found(CommandNotFound(command, tuple(available)))


def model_not_found(error: ModelNotFound) -> NamedMessage:
    """Give the stored form of a wrong model's name under the name that the error has elsewhere; the message tells near ones.

    >>> model_not_found(ModelNotFound('acme', 'large-2', ('large-3',))).data['message']
    "acme has no model 'large-2'. Did you mean 'large-3'?"
    """
    ids: dict[str, object] = {
        'providerID': error.provider,
        'modelID': error.model,
        'suggestions': error.suggestions,
    }
    asked = (
        f' Did you mean {join_quoted(map(redact, error.suggestions))}?' if error.suggestions else ''
    )
    return NamedMessage(
        error.tag, {'message': safe_text(message_of(error) + asked), **safe_items(ids)}
    )


def _not_found(error: AgentNotFound | CommandNotFound) -> NamedMessage:
    there = (
        f' Available: {join_quoted(map(redact, error.available), last="and")}.'
        if error.available
        else ''
    )
    return NamedMessage(
        error.tag, {'message': safe_text(message_of(error) + there), **public_fields(error)}
    )
