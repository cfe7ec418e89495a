"""The application with its page, and the events of its sessions."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from starlette.testclient import TestClient

from seamwise.catalog.tools import ToolError
from seamwise.live import Event
from seamwise.live.events import as_event
from seamwise.seams.session import ErrorEvent
from seamwise.toolhost import Processor, ToolOutcome
from seamwise.toolhost.guards.guarded_call import CallStats
from seamwise.toolhost.server import create_app
from seamwise.toolhost.server.live_app import LivePage

from .helpers import HOST, TOKEN, TOOLS, access


def seam_outputs(outcome: ToolOutcome[ToolError], stats: CallStats) -> Mapping[str, object]:
    """Return an output that shows what the seams are given."""
    return {'test': {'place': outcome.place, 'events': len(stats.events)}}


@contextmanager
def page_client(*, token: str | None = TOKEN) -> Generator[TestClient]:
    """Run the application with its page, and yield a client."""
    app = create_app(Processor(TOOLS), access=access(), page=LivePage(seam_outputs))
    headers = {} if token is None else {'authorization': f'Bearer {token}'}
    with TestClient(app, base_url=f'http://{HOST}', headers=headers) as client:
        yield client


class Sent(list[Event]):
    """The events that a run has sent."""

    def __call__(self, event: Event | ErrorEvent) -> None:
        self.append(as_event(event))

    @property
    def names(self) -> list[str]:
        return [event.event for event in self]

    def named(self, name: str) -> list[Event]:
        return [event for event in self if event.event == name]
