"""What a failure of a session is on JSON-RPC: never a tool's, so an error in MCP too."""

from collections.abc import Mapping

from seamwise.catalog.sessions import (
    AckAhead,
    ConnectionLost,
    InvalidInput,
    RecoveryFailed,
    ReplayGap,
    SessionBusy,
    SessionError,
    SessionNotFound,
    UnknownEpoch,
)
from seamwise.seams.adapter import Adapter
from seamwise.seams.jsonrpc.codes import Revision
from seamwise.seams.jsonrpc.shape import Answer
from seamwise.seams.jsonrpc.tables._dialects import Dialect, by_revision


def _sessions(to: Dialect) -> Adapter[SessionError, Answer]:
    return (
        to.on(InvalidInput).refuses()
        | to.on(SessionNotFound).refuses()
        | to.on(SessionBusy).fails()
        | to.on(ConnectionLost).hidden()
        | to.on(ReplayGap).fails()
        | to.on(UnknownEpoch).refuses()
        | to.on(AckAhead).refuses()
        | to.on(RecoveryFailed).fails()
    )


SESSIONS: Mapping[Revision, Adapter[SessionError, Answer]] = by_revision(_sessions)
