"""The agent's own errors."""

from seamwise import Category, TaggedError


class CityUnknown(
    TaggedError,
    category=Category.NOT_FOUND,
    message='There is no weather station in {city!r}.',
    namespace='agent',
):
    """No station has this name. The model chooses one of `stations`."""

    city: str
    stations: tuple[str, ...] = ()


class StationOffline(
    TaggedError,
    category=Category.UNAVAILABLE,
    message='The weather station in {city!r} is offline.',
    namespace='agent',
):
    """The station does not answer at the moment. The caller tries again."""

    city: str


class TooManyTurns(
    TaggedError,
    category=Category.QUOTA,
    message='The model did not answer within {limit} turns.',
    namespace='agent',
):
    """The model called tools only. The user asks a simpler question."""

    limit: int
