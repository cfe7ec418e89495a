"""How a failure between this program and a service that it calls looks at a terminal."""

from collections.abc import Iterator

from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.cli import hints
from seamwise.seams.cli.on import on
from seamwise.seams.cli.shape import Rendered


def _limit(error: UpstreamRateLimited) -> str | None:
    if error.limit is None:
        return hints.later(error)
    made = '' if error.requests_made is None else f', and {error.requests_made} were made'
    return f'it takes {error.limit} requests at a time{made}.'


def _setting(error: CredentialsRejected) -> str:
    return f'set {error.required_config} to a key that is valid.'


def _answer(error: UpstreamFailed) -> Iterator[str]:
    yield from filter(None, [hints.reads(error.excerpt), hints.later(error)])


NETWORK: Adapter[NetworkError, Rendered] = (
    on(HostUnreachable).exits(69, hint='see whether the name is right and the network is up.')
    | on(NetworkTimedOut).exits(124, hint=hints.later)
    | on(UpstreamRateLimited).exits(75, hint=_limit)
    | on(CredentialsRejected).exits(78, hint=_setting)
    | on(UpstreamFailed).exits(69, hint=_answer)
)
