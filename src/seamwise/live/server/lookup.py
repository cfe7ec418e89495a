"""Look-up of sessions: whether they exist, without reading their events."""

from typing import Final

from seamwise._results.containers import Failure, Result, Success
from seamwise.catalog.sessions import SessionNotFound, UnknownEpoch
from seamwise.catalog.storage import StoreUnavailable
from seamwise.live.events import Position
from seamwise.live.log import EventLog

# No session has this epoch, so the answer is a failure, which names the current one.
_NOWHERE: Final = Position('', 0)


async def current_epoch(
    log: EventLog, session: str
) -> Result[str, SessionNotFound | StoreUnavailable]:
    """Return the epoch of a session."""
    replay = await log.replay(session, _NOWHERE)
    match replay:
        case Failure(UnknownEpoch(_, current)):
            return Success(current)
        case Failure(SessionNotFound() | StoreUnavailable() as error):
            return Failure(error)
        case _:
            # seamwise: allow[SW102] a defect of the log
            raise RuntimeError(f'The log has an answer for an epoch that does not exist: {replay}.')
