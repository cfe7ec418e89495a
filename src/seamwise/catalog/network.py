"""Errors of calls to other services over the network."""

from typing import TypeAlias

from seamwise._errors.categories import Category, Recovery
from seamwise._errors.causes import Cause
from seamwise._errors.errors import TaggedError
from seamwise._errors.internal import Internal


class HostUnreachable(
    TaggedError,
    category=Category.CONNECTION,
    recovery=Recovery.RETRY,
    message='{host} cannot be reached: {reason}.',
    public='The service cannot be reached.',
):
    """The connection could not be opened, or it broke. The caller retries."""

    host: Internal[str]
    reason: Internal[str]
    cause: Cause | None = None


class NetworkTimedOut(
    TaggedError,
    category=Category.TIMEOUT,
    message='{host} did not finish {operation} within {timeout:g} s.',
    public='The service did not finish {operation} within {timeout:g} s.',
):
    """The operation did not finish within `timeout` seconds. The caller retries."""

    host: Internal[str]
    operation: str
    timeout: float
    retry_after: float | None = None
    cause: Cause | None = None


class UpstreamRateLimited(
    TaggedError, category=Category.RATE_LIMIT, message='{service} accepts no more requests for now.'
):
    """The service rejected the call because there were too many.

    The caller waits `retry_after` seconds. `limit` is the number of calls that the service
    permits in `period` seconds; the count restarts at the Unix time `reset`.
    """

    service: str
    retry_after: float | None = None
    limit: int | None = None
    requests_made: int | None = None
    reset: float | None = None
    period: float | None = None
    cause: Cause | None = None


class CredentialsRejected(
    TaggedError,
    category=Category.AUTHENTICATION,
    message='{service} rejects the credentials of this program.',
):
    """The key of this program is missing, wrong or expired.

    The operator corrects the settings `required_config`; the caller cannot help.
    """

    service: str
    required_config: tuple[str, ...] = ()
    cause: Cause | None = None


class UpstreamFailed(
    TaggedError, category=Category.UNAVAILABLE, message='{service} failed with status {status}.'
):
    """The service reported a failure of its own. The caller retries later."""

    service: str
    status: int
    excerpt: Internal[str]
    retry_after: float | None = None
    cause: Cause | None = None


NetworkError: TypeAlias = (
    HostUnreachable | NetworkTimedOut | UpstreamRateLimited | CredentialsRejected | UpstreamFailed
)
