"""What a failure between this program and a service that it calls is on JSON-RPC."""

from collections.abc import Mapping

from seamwise.catalog.network import (
    CredentialsRejected,
    HostUnreachable,
    NetworkError,
    NetworkTimedOut,
    UpstreamFailed,
    UpstreamRateLimited,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision
from seamwise.seams.model import tables as model


def _network(to: Dialect) -> Adapter[NetworkError, Answer]:
    return (
        to.on(HostUnreachable).fails(model.NETWORK)
        | to.on(NetworkTimedOut).fails(model.NETWORK)
        | to.on(UpstreamRateLimited).fails(model.NETWORK)
        | to.on(CredentialsRejected).fails(model.NETWORK)
        | to.on(UpstreamFailed).fails(model.NETWORK)
    )


NETWORK: Mapping[Revision, Adapter[NetworkError, Answer]] = by_revision(_network)
