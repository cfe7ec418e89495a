"""Guards under the clients of httpx: `httpx.Client(transport=GuardTransport(guard))`.

For httpx2, import the same names from `seamwise.policies.transports.httpx2`. The submodules `grpc`
and `sqlalchemy` put guards under channels of gRPC and engines of SQLAlchemy.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seamwise.policies.transports.httpx import AsyncGuardTransport as AsyncGuardTransport
    from seamwise.policies.transports.httpx import GuardTransport as GuardTransport
    from seamwise.policies.transports.httpx import RequestRefused as RequestRefused
    from seamwise.policies.transports.httpx import RequestTimedOut as RequestTimedOut


def __getattr__(name: str) -> object:
    # Not imported above: a program with httpx2 alone has no httpx.
    if name in {'AsyncGuardTransport', 'GuardTransport', 'RequestRefused', 'RequestTimedOut'}:
        from seamwise.policies.transports import httpx  # noqa: PLC0415

        return getattr(httpx, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
