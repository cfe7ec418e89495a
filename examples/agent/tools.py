"""The tools of the agent."""

from asyncio import sleep
from typing import Annotated, Final

from msgspec import Meta, Struct

from agent.errors import CityUnknown, StationOffline
from seamwise import Failure, Result, Success
from seamwise.toolhost import Example, tool

TEMPERATURES: Final = {'Oslo': (12.0, 14.5, 9.0), 'Bern': (21.0, 22.5, 19.0)}

Celsius = Annotated[float, Meta(ge=-273.15, description='a temperature in degrees Celsius')]


class Forecast(Struct, frozen=True):
    """The forecast for a city.

    Attributes:
        city: The name of the station.
        temperatures: The temperatures of the next days in degrees Celsius.
    """

    city: str
    temperatures: tuple[Celsius, ...]


class Stations:
    """The weather stations; each one is offline for its first request."""

    def __init__(self) -> None:
        self._requested: set[str] = set()

    async def read(self, city: str) -> Result[tuple[float, ...], CityUnknown | StationOffline]:
        """Return the temperatures of the next days."""
        await sleep(0.01)
        if city not in TEMPERATURES:
            return Failure(CityUnknown(city, tuple(TEMPERATURES)))
        if city not in self._requested:
            self._requested.add(city)
            return Failure(StationOffline(city))
        return Success(TEMPERATURES[city])


STATIONS: Final = Stations()
NOTES: Final[dict[str, str]] = {}


@tool(is_repeatable=True)
async def weather(
    city: Annotated[str, Example('Oslo')], days: Annotated[int, Meta(ge=1, le=3)] = 1
) -> Result[Forecast, CityUnknown | StationOffline]:
    """Return the forecast for a city.

    city: as people write it
    days: the number of days, from today
    """
    values = await STATIONS.read(city)
    return values.map(lambda temperatures: Forecast(city, temperatures[:days]))


@tool(is_repeatable=True)
def fahrenheit(celsius: Celsius) -> float:
    """Convert a temperature to degrees Fahrenheit."""
    return round(celsius * 9 / 5 + 32, 1)


# Notes on one topic are written one after the other, and never twice.
@tool(exclusive=lambda arguments: arguments['topic'])
def remember(topic: str, text: str) -> None:
    """Write a note, in place of the one on the same topic.

    topic: the topic of the note
    text: the note
    """
    NOTES[topic] = text


TOOLS: Final = weather | fahrenheit | remember
"""`Tools[CityUnknown | StationOffline]`, which a type checker infers."""
