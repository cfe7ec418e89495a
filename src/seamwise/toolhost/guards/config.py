"""Reads a guards file (TOML): everything that is wrong with it is found before a call runs, each with a pointer into the file."""

import re
import tomllib
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping

from msgspec import UnsetType

from seamwise.catalog.problem import Problem
from seamwise.catalog.workspace import ConfigError, ConfigInvalid, ConfigUnreadable
from seamwise.categories import Category
from seamwise.containers import Failure, Result, Success
from seamwise.errors import TaggedError
from seamwise.policies import GuardError
from seamwise.policies._engine.pipeline import Guard, identity
from seamwise.policies._engine.predicates import retryable
from seamwise.policies._engine.world import REAL, World
from seamwise.toolhost.guards.guarded_call import record_event
from seamwise.toolhost.guards.settings import (
    GuardConfig,
    GuardDependencies,
    Guards,
    GuardsConfig,
    NestedConfig,
    ToolGuards,
)
from seamwise.toolhost.guards.toml_positions import line_column
from seamwise.toolhost.registry import STANDARD, Registry
from seamwise.toolhost.schema import below, check, is_table, unknown

_POSITION = re.compile(r' \(at (?:line (\d+), column (\d+)|end of document)\)\Z')
_NAMES = re.compile(r"\(('[^']*'(?:, '[^']*')*),?\)")
"""The key of a table, as tomllib shows it."""

MAX_CONFIG_SIZE = 256 * 1024
"""In bytes: what is longer is no guards file, and perhaps has no end."""


def parse_guards(
    data: bytes, path: str, *, registry: Registry = STANDARD, world: World = REAL
) -> Result[Mapping[str, Guard[GuardError]], ConfigError]:
    r"""Make the guards of each tool, by its name, as a file says; `path` is what the file is called in an error.

    ConfigUnreadable: the text is no TOML. ConfigInvalid: it says something else than guards, or guards that cannot be.

    >>> parse_guards(b'[default.retry]\nattempts = 0', 'guards.toml').failure().problems
    (Problem(pointer='/default/retry/attempts', message='attempts must be 1 or more, not 0'),)
    """
    read = _read(data, path)
    if type(read) is Failure:
        return read
    problems: list[Problem] = []
    settings = check(GuardsConfig, read.unwrap(), problems)
    problems.extend(_no_tools(read.unwrap(), registry.names))
    if settings is None or problems:
        return Failure(ConfigInvalid(path, tuple(problems)))
    maker = _Maker(settings, registry, world)
    guards = maker.guards()
    return (
        Failure(ConfigInvalid(path, tuple(maker.problems))) if maker.problems else Success(guards)
    )


def _read(data: bytes, path: str) -> Result[dict[str, object], ConfigError]:
    if len(data) > MAX_CONFIG_SIZE:
        return _invalid(path, f'has more than {MAX_CONFIG_SIZE:,} bytes')
    try:
        text = data.decode('utf-8-sig')
    except UnicodeDecodeError as raised:
        # Counted without a mark at the beginning.
        before = data.removeprefix(BOM_UTF8)[: raised.start].decode()
        return Failure(
            ConfigUnreadable(path, *line_column(before, len(before)), 'this is not UTF-8')
        )
    try:
        return Success(tomllib.loads(text))
    except tomllib.TOMLDecodeError as raised:
        return Failure(_unreadable(path, text, str(raised)))
    except RecursionError:
        return _invalid(path, 'is nested too deeply')
    except ValueError:
        # Of more than 4,300 digits, which Python does not read.
        return _invalid(path, 'holds a number of too many digits')


def _no_tools(read: dict[str, object], names: tuple[str, ...]) -> Iterator[Problem]:
    tools = read.get('tools')
    for name in tools if is_table(tools) else ():
        if name not in names:
            yield Problem(below('/tools', name), unknown(name, names, what='tool'))


def _invalid(path: str, message: str) -> Failure[ConfigInvalid]:
    return Failure(ConfigInvalid(path, (Problem('', message),)))


def _unreadable(path: str, text: str, message: str) -> ConfigUnreadable:
    found = _POSITION.search(message)
    at = line_column(text, len(text))
    line, column = (int(found[1]), int(found[2])) if found and found[1] else at
    problem = message[: found.start()] if found else message
    problem = _NAMES.sub(lambda names: names[1].replace("', '", '.'), problem)
    return ConfigUnreadable(path, line, column, problem[:1].lower() + problem[1:])


def _was_not_begun(error: TaggedError) -> bool:
    """Say whether a second try may help and does no harm: what was not done in time may have been done all the same.

    As with the methods of HTTP that are not idempotent (RFC 9110, 9.2.2).
    """
    return error.retryable and error.category is not Category.TIMEOUT


class _Maker:
    """Makes the guards of every tool, and keeps what is wrong with them."""

    def __init__(self, settings: GuardsConfig, registry: Registry, world: World) -> None:
        self._settings = settings
        self._registry = registry
        self._world = world
        # Each once, however many tools meet it.
        self.problems: dict[Problem, None] = {}

    def guards(self) -> dict[str, Guard[GuardError]]:
        """Give the guards of every tool; of no use where there are problems."""
        names, tools = self._registry.names, self._settings.tools
        # Also where every tool has its own.
        self._pipeline('default', ToolGuards(), is_repeatable=True)
        return {
            name: self._pipeline(
                name,
                tools.get(name, ToolGuards()),
                is_repeatable=self._registry.is_repeatable(name),
            )
            for name in names
        }

    def _pipeline(self, tool: str, own: ToolGuards, *, is_repeatable: bool) -> Guard[GuardError]:
        if not isinstance(own.repeatable, UnsetType):
            is_repeatable = own.repeatable
        around = GuardDependencies(
            tool, record_event, self._world, retryable if is_repeatable else _was_not_begun
        )
        pipeline: Guard[GuardError] = identity
        for pointer, table in self._tables(tool, own):
            made = self._made(table, pointer, around)
            pipeline = pipeline >> made
        return pipeline

    def _tables(self, tool: str, own: ToolGuards) -> Iterator[tuple[str, GuardConfig]]:
        """Give the tables of a tool's guards, the outermost first, and where each stands."""
        for guard in Guards.__struct_fields__:
            pointer, table = below(below('/tools', tool), guard), getattr(own, guard)
            if isinstance(table, UnsetType):
                pointer, table = f'/default/{guard}', getattr(self._settings.default, guard)
            if isinstance(table, GuardConfig):
                yield pointer, table

    def _made(
        self, table: GuardConfig, pointer: str, around: GuardDependencies
    ) -> Guard[GuardError]:
        try:
            return table.make(around)
        except ValueError as wrong:
            self._note(*_finding(table, pointer, str(wrong)))
            return identity

    def _note(self, pointer: str, message: str) -> None:
        self.problems[Problem(pointer, message.removesuffix('.'))] = None


def _finding(table: GuardConfig, pointer: str, message: str) -> tuple[str, str]:
    """Find the key that the message of a guard is about, by which it begins, and say it as the file does."""
    for name in table.__struct_fields__:
        inner: object = getattr(table, name)
        if isinstance(inner, NestedConfig):
            first = inner.__struct_fields__[0]
            for word, key in {
                inner.first_argument: first,
                **{one: one for one in inner.__struct_fields__[1:]},
            }.items():
                if message.startswith(f'{word} '):
                    return below(below(pointer, name), key), message.replace(word, key, 1)
        if message.startswith(f'{name} '):
            return below(pointer, name), message
    return pointer, message
