"""Guards of a program from a TOML file or a parsed document, with environment variables."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar, overload

from seamwise._results.containers import Failure, Result, Success
from seamwise._runtime.validation import check_name
from seamwise._runtime.world import REAL, World
from seamwise.catalog.problem import Problem
from seamwise.catalog.workspace import ConfigError, ConfigInvalid
from seamwise.policies._engine.pipeline import Guard
from seamwise.policies.config.environment import OverriddenDocument, Overrides, variables_note
from seamwise.policies.config.pipelines import Layout, PipelineBuilder, Report
from seamwise.policies.config.schema import is_table, unknown_name_message, value_text
from seamwise.policies.config.settings import GuardDependencies, PipelineConfig
from seamwise.policies.config.toml_document import parse_toml
from seamwise.policies.errors import GuardError
from seamwise.policies.events import Observer

N = TypeVar('N', bound=str)

LAYOUT: Final = Layout(
    section='guards',
    noun='guard',
    defaults=PipelineConfig,
    table=PipelineConfig,
    merges_options=True,
    is_strict=True,
)
"""The form of a guards file."""

_NO_OVERRIDES: Final = Overrides('', {})


@overload
def guards_from_toml(
    content: str | bytes,
    *,
    names: Iterable[N],
    path: str = 'guards.toml',
    overrides: Overrides | None = None,
    observer: Observer | None = None,
    world: World = REAL,
) -> Result[Mapping[N, Guard[GuardError]], ConfigError]: ...
@overload
def guards_from_toml(
    content: str | bytes,
    *,
    names: None = None,
    path: str = 'guards.toml',
    overrides: Overrides | None = None,
    observer: Observer | None = None,
    world: World = REAL,
) -> Result[Mapping[str, Guard[GuardError]], ConfigError]: ...
def guards_from_toml(
    content: str | bytes,
    *,
    names: Iterable[str] | None = None,
    path: str = 'guards.toml',
    overrides: Overrides | None = None,
    observer: Observer | None = None,
    world: World = REAL,
) -> Result[Mapping[Any, Guard[GuardError]], ConfigError]:
    r"""Build guards from the content of a TOML file.

    The file has a table `[guards.NAME]` for each guard, and a table `[default]`. A guard inherits
    each option from `[default]` that it does not set. The keys are those of
    `docs/guards/configuration.md`.

    The order is `rate_limit >> bulkhead >> circuit >> retry >> hedge >> deadline`. With a rate
    limit or a bulkhead, a hedge is outermost.

    >>> file = '''
    ... [default]
    ... retry.attempts = 2
    ... [guards.payment]
    ... deadline.seconds = 5
    ... '''
    >>> guards = guards_from_toml(file, names=('payment', 'search')).unwrap()
    >>> print(guards['payment'].describe())
    retry 'payment': 2 attempts in 45 s, waits 0.1 s to 5 s, full jitter
    deadline 'payment': 5 s
    >>> print(guards['search'].describe())
    retry 'search': 2 attempts in 45 s, waits 0.1 s to 5 s, full jitter

    >>> error = guards_from_toml('[default]\nretry = { atempts = 2, base = -1 }').failure()
    >>> for problem in error.problems:
    ...     print(f'{problem.pointer}: {problem.message}')
    /default/retry/atempts: is not a known key (did you mean 'attempts'?)
    /default/retry/base: base must be a finite number, 0 or more, 1e+09 at most, not -1.0

    Args:
        content: The content of the file, at most 256 KiB.
        names: The names of the guards that the program uses. Each of them has a guard in the
            result, that of `[default]` if the file has no table for it. Other tables are problems.
            None: the names of the tables.
        path: The name of the file in errors.
        overrides: Environment variables, from `overrides_from_environment`.
        observer: Receives the events of all guards.
        world: Clock, sleep and randomness of all guards; a `FakeWorld` in tests.

    Returns:
        The guards by name; or `ConfigUnreadable` if the file is not TOML; or `ConfigInvalid` with
        all problems: unknown keys, wrong types, values that a guard rejects, and pipelines that
        `describe` warns about.

    Raises:
        TypeError: `content` is no text, `names` is one, or `overrides` is something else.
        ValueError: A name is empty.
    """
    if not isinstance(content, str | bytes):
        raise TypeError(
            'content must be the content of the file, as str or bytes, not '
            f'{type(content).__name__}: pass Path(…).read_bytes().'
        )
    document = parse_toml(content, path)
    if type(document) is Failure:
        return document
    return guards_from_mapping(
        document.unwrap(),
        names=names,
        path=path,
        overrides=overrides,
        observer=observer,
        world=world,
    )


@overload
def guards_from_mapping(
    document: Mapping[str, object],
    *,
    names: Iterable[N],
    path: str = 'guards',
    pointer: str = '',
    overrides: Overrides | None = None,
    observer: Observer | None = None,
    world: World = REAL,
) -> Result[Mapping[N, Guard[GuardError]], ConfigInvalid]: ...
@overload
def guards_from_mapping(
    document: Mapping[str, object],
    *,
    names: None = None,
    path: str = 'guards',
    pointer: str = '',
    overrides: Overrides | None = None,
    observer: Observer | None = None,
    world: World = REAL,
) -> Result[Mapping[str, Guard[GuardError]], ConfigInvalid]: ...
def guards_from_mapping(  # noqa: PLR0913 -- independent settings, each with a default
    document: Mapping[str, object],
    *,
    names: Iterable[str] | None = None,
    path: str = 'guards',
    pointer: str = '',
    overrides: Overrides | None = None,
    observer: Observer | None = None,
    world: World = REAL,
) -> Result[Mapping[Any, Guard[GuardError]], ConfigInvalid]:
    """Build guards from a parsed document: a table of another file, or YAML or JSON.

    >>> file = {'tool': {'shop': {'guards': {'payment': {'deadline': {'seconds': 0}}}}}}
    >>> error = guards_from_mapping(file['tool']['shop'], pointer='/tool/shop').failure()
    >>> error.problems[0].pointer
    '/tool/shop/guards/payment/deadline/seconds'

    Args:
        document: A mapping with the keys `default` and `guards`, as in a TOML file.
        names: The names of the guards that the program uses; see `guards_from_toml`.
        path: The name of the file in errors.
        pointer: The JSON Pointer to the document in its file, for the pointers of problems.
        overrides: Environment variables, from `overrides_from_environment`.
        observer: Receives the events of all guards.
        world: Clock, sleep and randomness of all guards; a `FakeWorld` in tests.

    Returns:
        The guards by name, or `ConfigInvalid` with all problems.

    Raises:
        TypeError: `names` is a string, or contains other values.
        ValueError: A name is empty.
    """
    names = None if names is None else _check_names(names)
    if not isinstance(overrides, Overrides | None):
        raise TypeError(
            'overrides must be the result of overrides_from_environment(…), not '
            f'{type(overrides).__name__}.'
        )
    # An empty YAML file is None.
    content: object = document
    if not is_table(content):
        message = f'must be a table, not {value_text(content)}'
        return Failure(ConfigInvalid(path, (Problem(pointer, message),)))
    overridden = OverriddenDocument(document, overrides or _NO_OVERRIDES, LAYOUT, names or ())
    report = Report(overridden.note)
    for problem in overridden.problems:
        report.add(problem.path, problem.message, note=variables_note(problem.variable))
    builder = PipelineBuilder(
        overridden.document,
        LAYOUT,
        dependencies=lambda name, _table: GuardDependencies(name, observer, world),
        report=report,
    )
    guards = builder.build(names)
    problems = report.problems(pointer)
    return Failure(ConfigInvalid(path, problems)) if problems else Success(_Guards(guards))


def _check_names(names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise TypeError(f'names must be several strings, e.g. ({names!r},), not {names!r}.')
    return tuple(map(check_name, names))


class _Guards(dict[str, Guard[GuardError]]):
    """Guards by name; an unknown name is a KeyError with similar names."""

    def __missing__(self, name: str) -> Guard[GuardError]:
        raise KeyError(f'{name!r} {unknown_name_message(name, self, noun="guard")}')
