"""Errors whose details the public seams http and jsonrpc do not show by default."""

from typing import Final

from seamwise._errors.categories import Category
from seamwise._errors.errors import TaggedError
from seamwise._errors.messages import field_names
from seamwise._errors.texts import general_message
from seamwise.seams.rendering.errors import safe_public_message

_INFRASTRUCTURE: Final = frozenset(
    {
        # catalog.storage, without RecordNotFound and RecordExists
        'StoreClosed',
        'StoreUnavailable',
        # catalog.network
        'HostUnreachable',
        'NetworkTimedOut',
        'UpstreamRateLimited',
        'CredentialsRejected',
        'UpstreamFailed',
        # catalog.protocols, without A2A
        'McpConnectionFailed',
        'McpTransportFailed',
        'McpServerFailed',
        'McpTimedOut',
        'LSPInitializeError',
        'LspRequestFailed',
        'LspContentModified',
        # policies
        'RateLimited',
        'CircuitOpen',
        'BulkheadFull',
        'DeadlineExceeded',
    }
)
"""Tags, because importing the classes would load all of their modules."""

_NAMESPACE: Final = 'seamwise'
_FIRST_SERVER_STATUS: Final = 500

_SERVER_CATEGORIES: Final = frozenset(
    {
        Category.CONFIGURATION,
        Category.CAPACITY,
        Category.CIRCUIT_OPEN,
        Category.TIMEOUT,
        Category.UNAVAILABLE,
        Category.CONNECTION,
        Category.RESOURCE,
        Category.EXECUTION,
    }
)
_CALLER_ERRORS: Final = frozenset({'AgentBusy', 'CommandFailed', 'A2aExtendedCardNotConfigured'})
"""Tags of the catalogue in these categories, for which HTTP has a status below 500."""
_SERVER_ERRORS: Final = frozenset({'InvalidResult'})
"""Tags of the catalogue in other categories, for which HTTP has a status from 500."""

_CALLER_CATEGORIES: Final = frozenset(
    {Category.VALIDATION, Category.NOT_FOUND, Category.AUTHENTICATION, Category.PERMISSION}
)

_UNKNOWN_OUTCOMES: Final = frozenset({Category.TIMEOUT, Category.CONNECTION})
# 503 means that the server could not handle the request (RFC 9110, 15.6.4).
_UNKNOWN_OUTCOME_STATUSES: Final = frozenset({500, 502, 504})


def is_infrastructure(kind: type[TaggedError]) -> bool:
    """Return whether an error is about a store, the network, a peer or a guard of this program.

    >>> from seamwise.catalog.storage import RecordNotFound, StoreClosed
    >>> is_infrastructure(StoreClosed), is_infrastructure(RecordNotFound)
    (True, False)
    """
    traits = kind.__traits__
    return traits.namespace == _NAMESPACE and traits.tag in _INFRASTRUCTURE


def hides_details(kind: type[TaggedError], status: int) -> bool:
    """Return whether an HTTP answer without `details=` shows a general sentence and no fields.

    >>> from seamwise.catalog.storage import RecordNotFound
    >>> hides_details(RecordNotFound, 404), hides_details(RecordNotFound, 500)
    (False, True)

    Args:
        kind: The class of the error.
        status: The HTTP status of the answer.
    """
    return status >= _FIRST_SERVER_STATUS or is_infrastructure(kind)


def hides_data(kind: type[TaggedError]) -> bool:
    """Return whether a JSON-RPC answer without `data=` shows a general sentence and no fields.

    JSON-RPC has no status, so the category decides. For the catalogue the rule is that of HTTP.

    >>> from seamwise.catalog.tools import FileNotFound, ToolTimedOut
    >>> hides_data(ToolTimedOut), hides_data(FileNotFound)
    (True, False)
    """
    if is_infrastructure(kind):
        return True
    traits = kind.__traits__
    if traits.namespace == _NAMESPACE and traits.tag in _CALLER_ERRORS | _SERVER_ERRORS:
        return traits.tag in _SERVER_ERRORS
    return traits.category in _SERVER_CATEGORIES


def message_without_details(error: TaggedError, locale: str = 'en') -> str:
    """Return the message of an error whose details are hidden.

    It is the class keyword `public`, if there is one, else the general sentence of the category. A
    `public` of the catalogue that prints fields is for other seams.

    >>> from seamwise.catalog.network import CredentialsRejected
    >>> message_without_details(CredentialsRejected('bank', ('BANK_API_KEY',)))
    'The operation failed.'
    """
    traits = type(error).__traits__
    public = traits.public
    if public is not None and (traits.namespace != _NAMESPACE or not field_names(public)):
        return safe_public_message(error, locale)
    category = error.category
    # The fault is not with the request of the client.
    is_of_caller = category in _CALLER_CATEGORIES
    return general_message(Category.EXECUTION if is_of_caller else category, locale)


def may_have_been_done(error: TaggedError, status: int) -> bool:
    """Return whether the operation of a failed request may have had effects nevertheless.

    A limit, a full bulkhead or an open circuit refuses a call before it begins. After a timeout, a
    broken connection or the failure of another service, the outcome is unknown.

    >>> from seamwise.policies import CircuitOpen, DeadlineExceeded
    >>> may_have_been_done(DeadlineExceeded('pay', 2.0), 504)
    True
    >>> may_have_been_done(CircuitOpen('pay', failures=5, retry_after=3.0, state='open'), 503)
    False
    """
    if status in _UNKNOWN_OUTCOME_STATUSES or error.category in _UNKNOWN_OUTCOMES:
        return True
    # The connection to a store can break during its last step, the commit.
    return error.category is Category.UNAVAILABLE and is_infrastructure(type(error))
