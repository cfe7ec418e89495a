"""Parser for guards files (TOML) that reports all problems, each with its position."""

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
from seamwise.toolhost.schema import child_pointer, convert_struct, is_table, unknown_name_message

_POSITION = re.compile(r' \(at (?:line (\d+), column (\d+)|end of document)\)\Z')
_TABLE_KEY = re.compile(r"\(('[^']*'(?:, '[^']*')*),?\)")
"""The key of a table as `tomllib` shows it: a tuple of names."""

MAX_CONFIG_SIZE = 256 * 1024
"""In bytes: the maximum size of a guards file. A longer file is a mistake, or endless."""


def parse_guards(
    data: bytes, path: str, *, registry: Registry = STANDARD, world: World = REAL
) -> Result[Mapping[str, Guard[GuardError]], ConfigError]:
    r"""Build the guards of each tool, by its name, from the content of a guards file.

    >>> parse_guards(b'[default.retry]\nattempts = 0', 'guards.toml').failure().problems
    (Problem(pointer='/default/retry/attempts', message='attempts must be 1 or more, not 0'),)

    Args:
        data: The content of the file.
        path: The name of the file in errors.
        registry: The tools; by default the standard ones.
        world: The clock, sleep and randomness of the guards; by default the real ones.

    Returns:
        The guards, or `ConfigUnreadable` for invalid TOML, or `ConfigInvalid` for invalid
        settings.
    """
    document = _load(data, path)
    if type(document) is Failure:
        return document
    tables = document.unwrap()
    problems: list[Problem] = []
    config = convert_struct(GuardsConfig, tables, problems)
    problems.extend(_unknown_tools(tables, registry.names))
    if config is None or problems:
        return Failure(ConfigInvalid(path, tuple(problems)))
    builder = _GuardBuilder(config, registry, world)
    guards = builder.build()
    if builder.problems:
        return Failure(ConfigInvalid(path, tuple(builder.problems)))
    return Success(guards)


def _load(data: bytes, path: str) -> Result[dict[str, object], ConfigError]:
    if len(data) > MAX_CONFIG_SIZE:
        return _invalid(path, f'has more than {MAX_CONFIG_SIZE:,} bytes')
    try:
        text = data.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        # `utf-8-sig` counts without the byte order mark.
        prefix = data.removeprefix(BOM_UTF8)[: error.start].decode()
        return Failure(
            ConfigUnreadable(path, *line_column(prefix, len(prefix)), 'this is not UTF-8')
        )
    try:
        return Success(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        return Failure(_unreadable(path, text, str(error)))
    except RecursionError:
        return _invalid(path, 'is nested too deeply')
    except ValueError:
        # Python does not parse integers of more than 4,300 digits.
        return _invalid(path, 'contains a number with too many digits')


def _unknown_tools(document: dict[str, object], names: tuple[str, ...]) -> Iterator[Problem]:
    tools = document.get('tools')
    for name in tools if is_table(tools) else ():
        if name not in names:
            message = unknown_name_message(name, names, noun='tool')
            yield Problem(child_pointer('/tools', name), message)


def _invalid(path: str, message: str) -> Failure[ConfigInvalid]:
    return Failure(ConfigInvalid(path, (Problem('', message),)))


def _unreadable(path: str, text: str, message: str) -> ConfigUnreadable:
    line, column = line_column(text, len(text))
    if match := _POSITION.search(message):
        message = message[: match.start()]
        if match[1]:
            line, column = int(match[1]), int(match[2])
    problem = _TABLE_KEY.sub(lambda key: key[1].replace("', '", '.'), message)
    return ConfigUnreadable(path, line, column, problem[:1].lower() + problem[1:])


def _is_safe_to_retry(error: TaggedError) -> bool:
    """Return whether a retry of a tool that is not repeatable can help and does no harm.

    After a timeout the tool may still have done its work, as with the methods of HTTP that are
    not idempotent (RFC 9110, 9.2.2).
    """
    return error.retryable and error.category is not Category.TIMEOUT


class _GuardBuilder:
    """Builder for the guards of every tool, and the problems with them."""

    def __init__(self, config: GuardsConfig, registry: Registry, world: World) -> None:
        self._config = config
        self._registry = registry
        self._world = world
        # A dictionary removes duplicates: each tool reports the same problem with a default.
        self.problems: dict[Problem, None] = {}

    def build(self) -> dict[str, Guard[GuardError]]:
        """Return the guards of every tool; they are usable only if there are no problems."""
        tools = self._config.tools
        # Check the defaults even if every tool overrides them.
        self._pipeline('default', ToolGuards(), is_repeatable=True)
        return {
            name: self._pipeline(
                name,
                tools.get(name, ToolGuards()),
                is_repeatable=self._registry.is_repeatable(name),
            )
            for name in self._registry.names
        }

    def _pipeline(self, tool: str, guards: ToolGuards, *, is_repeatable: bool) -> Guard[GuardError]:
        if not isinstance(guards.repeatable, UnsetType):
            is_repeatable = guards.repeatable
        dependencies = GuardDependencies(
            tool, record_event, self._world, retryable if is_repeatable else _is_safe_to_retry
        )
        pipeline: Guard[GuardError] = identity
        for pointer, config in self._guard_configs(tool, guards):
            guard = self._build_guard(config, pointer, dependencies)
            pipeline = pipeline >> guard
        return pipeline

    def _guard_configs(self, tool: str, guards: ToolGuards) -> Iterator[tuple[str, GuardConfig]]:
        """Yield the pointer and settings of each guard of a tool, the outermost guard first."""
        for name in Guards.__struct_fields__:
            pointer = child_pointer(child_pointer('/tools', tool), name)
            config = getattr(guards, name)
            if isinstance(config, UnsetType):
                pointer, config = f'/default/{name}', getattr(self._config.default, name)
            if isinstance(config, GuardConfig):
                yield pointer, config

    def _build_guard(
        self, config: GuardConfig, pointer: str, dependencies: GuardDependencies
    ) -> Guard[GuardError]:
        try:
            return config.build(dependencies)
        except ValueError as error:
            key_pointer, message = _locate_problem(config, pointer, str(error))
            self.problems[Problem(key_pointer, message.removesuffix('.'))] = None
            return identity


def _locate_problem(config: GuardConfig, pointer: str, message: str) -> tuple[str, str]:
    """Find the key of a guard's error message, which begins with the name of an argument.

    Returns:
        The pointer to the key, and the message with the name of the key in the file.
    """
    for name in config.__struct_fields__:
        nested: object = getattr(config, name)
        if isinstance(nested, NestedConfig):
            first_key, *other_keys = nested.__struct_fields__
            keys = {nested.first_argument: first_key, **{key: key for key in other_keys}}
            for argument, key in keys.items():
                if message.startswith(f'{argument} '):
                    key_pointer = child_pointer(child_pointer(pointer, name), key)
                    return key_pointer, message.replace(argument, key, 1)
        if message.startswith(f'{name} '):
            return child_pointer(pointer, name), message
    return pointer, message
