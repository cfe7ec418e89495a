"""Last events of sessions that the gateway ends itself."""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from seamwise.catalog.sessions import ConnectionLost
from seamwise.live.events import Event
from seamwise.live.wire import RESTART
from seamwise.seams import session as session_seam
from seamwise.seams.session import ErrorEvent
from seamwise.seams.session.localized import replace_fields
from seamwise.seams.session.observer import failed_end
from seamwise.seams.session.tables import SESSIONS

Events: TypeAlias = Sequence[Event | ErrorEvent]


class Ending(msgspec.Struct, frozen=True):
    """The last events of a session: those before the end, and the end."""

    notices: Events
    end: Event | ErrorEvent


def completed() -> Ending:
    """Return the end of a session whose function has returned."""
    metadata = {'status': 'completed', 'reason': 'done'}
    return Ending((), Event('agent.session_end', 'The session has ended.', metadata))


def failed(ref: str, locale: str) -> Ending:
    """Return the end of a session whose function has a defect."""
    return _failed(session_seam.defect(ref, locale=locale), locale)


def interrupted(locale: str) -> Ending:
    """Return the end of a session whose process has ended."""
    error = ConnectionLost(RESTART, 'the process of the session has ended', 0, 0.0)
    return _failed(session_seam.event(error, adapter=SESSIONS, locale=locale), locale)


def _failed(event: ErrorEvent, locale: str) -> Ending:
    metadata = {**event.metadata, 'recoverable': False, 'recovery_strategy': 'terminate'}
    error = replace_fields(event, event='agent.error', metadata=metadata)
    return Ending((error,), failed_end(locale))
