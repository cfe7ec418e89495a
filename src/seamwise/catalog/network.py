"""What can go wrong between this program and a service that it calls."""

from typing import TypeAlias

from seamwise.categories import Category
from seamwise.causes import Cause
from seamwise.errors import TaggedError


class HostUnreachable(
    TaggedError, category=Category.CONNECTION, message='{host} cannot be reached: {reason}.'
):
    """No connection came about, or it broke. The caller connects again."""

    host: str
    reason: str
    cause: Cause | None = None


class NetworkTimedOut(
    TaggedError,
    category=Category.TIMEOUT,
    message='{host} did not finish {operation} within {timeout:g} s.',
):
    """The answer did not come in time; `timeout` is in seconds. The caller tries again."""

    host: str
    operation: str
    timeout: float
    retry_after: float | None = None
    cause: Cause | None = None


class UpstreamRateLimited(
    TaggedError, category=Category.RATE_LIMIT, message='{service} takes no more requests for now.'
):
    """The service counts requests, and there were too many. The caller waits.

    `retry_after` is in seconds, `limit` the requests that the service allows, `reset` the Unix time at which its count begins anew.
    """

    service: str
    retry_after: float | None = None
    limit: int | None = None
    requests_made: int | None = None
    reset: float | None = None
    cause: Cause | None = None


class CredentialsRejected(
    TaggedError,
    category=Category.AUTHENTICATION,
    message='{service} rejects the credentials of this program.',
):
    """Our own key is missing, wrong or expired. Whoever runs the program sets `required_config`; nobody else can help."""

    service: str
    required_config: str
    cause: Cause | None = None


class UpstreamFailed(
    TaggedError, category=Category.UNAVAILABLE, message='{service} failed with status {status}.'
):
    """The service answered that it failed itself. The caller tries again later."""

    service: str
    status: int
    excerpt: str
    retry_after: float | None = None
    cause: Cause | None = None


NetworkError: TypeAlias = (
    HostUnreachable | NetworkTimedOut | UpstreamRateLimited | CredentialsRejected | UpstreamFailed
)
