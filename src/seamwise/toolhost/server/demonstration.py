"""Tools that only the page offers, to show guards at work: a service that fails on demand.

Nothing outside of the process is called. The failures are real exceptions, and the guards are
those of `seamwise.policies` with short delays.
"""

from asyncio import sleep
from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta, Struct

from seamwise._runtime.world import REAL, World
from seamwise.catalog.tools import ToolError
from seamwise.policies import Guard, GuardError, circuit, consecutive, deadline, retry
from seamwise.toolhost.function_tool import tool
from seamwise.toolhost.guards.guarded_call import failed_attempts, record_event
from seamwise.toolhost.processor import Processor
from seamwise.toolhost.server.live_calls import report_begin
from seamwise.toolhost.tools import Tools

SERVICE_SECONDS: Final = 0.12
"""In seconds: the time that the service takes for an answer or a failure."""

OPEN_SECONDS: Final = 4.0
"""In seconds: the time that the circuit stays open."""

SLOW_SECONDS: Final = 0.8
"""In seconds: the deadline of one attempt of `demo_slow`."""


class Weather(Struct, frozen=True):
    """The answer of the service."""

    city: str
    celsius: int


@tool(is_repeatable=True, exclusive=lambda _: 'demo_service')
async def demo_service(city: str, failures: Annotated[int, Meta(ge=0, le=9)] = 0) -> Weather:
    """Ask a service that resets its first connections.

    city: the name of a city
    failures: the number of attempts that fail
    """
    report_begin()
    await sleep(SERVICE_SECONDS)
    if failed_attempts() < failures:
        raise ConnectionResetError(104, 'Connection reset by peer')
    return Weather(city, 7)


@tool(is_repeatable=True)
async def demo_slow(seconds: Annotated[float, Meta(ge=0, le=30)] = 5.0) -> str:
    """Ask a service that takes its time.

    seconds: the time that it takes
    """
    await sleep(seconds)
    return 'Here is the answer.'


@tool
async def demo_bug() -> int:
    """Run a tool with a bug."""
    prices = {'apple': 2}
    return prices['pear']


DEMO_TOOLS: Final[Tools[ToolError]] = demo_service | demo_slow | demo_bug


def demo_processor(*, world: World = REAL) -> Processor[ToolError]:
    """Return a processor for the tools.

    Args:
        world: The clock, sleep and randomness of the guards; by default the real ones.
    """
    guards: Mapping[str, Guard[GuardError]] = {
        'demo_service': circuit(
            name='demo_service',
            trip=consecutive(2),
            open_for=OPEN_SECONDS,
            observer=record_event,
            world=world,
        )
        >> retry(
            attempts=3, base=0.5, cap=1.0, name='demo_service', observer=record_event, world=world
        ),
        'demo_slow': retry(
            attempts=2, base=0.4, cap=0.6, name='demo_slow', observer=record_event, world=world
        )
        >> deadline(SLOW_SECONDS, name='demo_slow', observer=record_event, world=world),
    }
    return Processor(DEMO_TOOLS, guards=guards)
