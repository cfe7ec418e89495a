"""Runs of mypy on a group of files, and their results.

All use of `mypy.build` is here: the build itself, its cache, its error messages and its crashes.
See `mypy_sources` for the other modules that depend on mypy's internals.
"""

import gc
import io
import re
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import msgspec
from msgspec import Struct
from mypy import build, version
from mypy.errors import CompileError
from mypy.nodes import Expression, MypyFile
from mypy.options import Options
from mypy.types import Type

from seamwise.check.mypy_sources import (
    SourceGroup,
    SourceProblem,
    copy_options,
    module_of_path,
    relative_path,
)

if sys.platform != 'win32':
    import resource

__all__ = ['MYPY_VERSION', 'Build', 'gc_disabled', 'missing_imports', 'run_mypy']

MYPY_VERSION = version.__version__

_STACK_SIZE = 512 * 1024 * 1024
"""Stack limit in bytes during a build; mypy's parser is recursive. Pages are allocated on use."""

_CRASH = re.compile(
    r'^(?P<path>.+?):(?:(?P<line>\d+):)? error: (?:INTERNAL ERROR|Cannot parse file)'
)


class Build:
    """Result of a mypy run: trees, types and cache state of its modules."""

    def __init__(self, result: build.BuildResult) -> None:
        self._result = result
        self._manager = result.manager

    @property
    def messages(self) -> Sequence[str]:
        """Error messages of mypy: JSON, or plain text for those without a file."""
        return self._result.errors

    @property
    def types(self) -> Mapping[Expression, Type]:
        """Types of the expressions, one module after the other."""
        return self._result.types

    def tree(self, module: str) -> MypyFile | None:
        """Return the syntax tree of a module; None if it is not part of the build."""
        return self._result.files.get(module)

    def __contains__(self, module: str) -> bool:
        return module in self._result.graph

    def path(self, module: str) -> str:
        """Return the path of a module, or an empty string."""
        return self._result.graph[module].path or ''

    def is_cached(self, module: str) -> bool:
        """Return whether mypy took a module from its cache; its types are then not available."""
        return module not in self._manager.rechecked_modules

    def inputs(self, module: str) -> bytes:
        """Encode everything the types of a module depend on.

        That is its source and path, the interfaces of the imported modules, options and plugins.
        """
        graph = self._result.graph
        state = graph[module]
        source_hash = (
            state.meta.hash
            if state.meta is not None and self.is_cached(module)
            else state.source_hash
        )
        return msgspec.msgpack.encode((
            state.path,
            relative_path(state.path or ''),
            source_hash,
            sorted(
                (name, graph[name].interface_hash)
                for name in state.dependencies
                if name in graph
            ),
            sorted(state.suppressed),
            build.options_snapshot(state.id, self._manager),
            self._manager.plugins_snapshot,
        ))  # fmt: skip

    def remove_from_cache(self, modules: Iterable[str]) -> None:
        """Remove modules from mypy's cache, so that the next build reads them again."""
        store = self._manager.metastore
        for module in modules:
            names = build.get_cache_names(module, self.path(module), self._manager.options)
            store.remove(names[0])
        store.commit()


def run_mypy(
    group: SourceGroup, problems: list[SourceProblem], *, cache_dir: Path | None = None
) -> Build | None:
    """Run mypy, and exclude the modules at which it stops until it succeeds.

    Args:
        group: The files and options. Modules that mypy cannot analyse are removed from it.
        problems: A problem is appended for each module that is excluded.
        cache_dir: The folder of mypy's cache; without one, nothing is cached.

    Returns:
        The result, or None if no module is left.
    """
    excluded: set[str] = set()
    while group.sources:
        output = io.StringIO()
        options = copy_options(group.options)
        if cache_dir is not None:
            _enable_cache(options, cache_dir)
        try:
            with redirect_stdout(output), redirect_stderr(output), _deep_stack():
                return _build(group, options)
        except SystemExit:
            # mypy exits on an internal error.
            module = _crashed_module(output.getvalue(), group.options, problems)
        except CompileError as error:
            if group.exclude_unparsable(problems):
                continue
            module = _blocking_module(error, group, problems)
        if module is None or module in excluded:
            return None
        excluded.add(module)
        group.exclude(module)
    return None


def missing_imports(messages: Iterable[str]) -> Iterator[SourceProblem]:
    """Yield a problem for each import that mypy could not resolve: its names have no types."""
    for message in _decode_messages(messages):
        if message.code in {'import-not-found', 'import-untyped'} and message.severity == 'error':
            text = (
                f'{message.message.rstrip(".")}: its values have no types, so no rule checks them.'
            )
            yield SourceProblem(message.file, text, line=message.line, is_unread=False)


@contextmanager
def gc_disabled() -> Generator[None]:
    """Disable the cyclic garbage collector.

    Trees and types live until exit, and collections cost a third of the run time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _enable_cache(options: Options, folder: Path) -> None:
    options.incremental = True
    options.cache_dir = str(folder)
    options.sqlite_cache = True
    options.sqlite_num_shards = 1
    options.cache_map = {}
    options.cache_fine_grained = False
    options.skip_version_check = False


def _build(group: SourceGroup, options: Options) -> Build:
    # mypy raises the thresholds of the GC for the rest of the process.
    thresholds = gc.get_threshold()
    try:
        return Build(build.build(list(group.sources), options))
    finally:
        gc.set_threshold(*thresholds)


@contextmanager
def _deep_stack() -> Generator[None]:
    if sys.platform == 'win32':
        # The linker fixes the stack size there.
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    size = _STACK_SIZE if hard == resource.RLIM_INFINITY else min(_STACK_SIZE, hard)
    if soft != resource.RLIM_INFINITY and soft < size:
        resource.setrlimit(resource.RLIMIT_STACK, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


class _Message(Struct, frozen=True):
    """One JSON message of mypy."""

    file: str
    line: int
    message: str
    code: str | None = None
    severity: str = 'error'


def _decode_messages(messages: Iterable[str]) -> list[_Message]:
    decoded: list[_Message] = []
    for message in messages:
        try:
            decoded.append(msgspec.json.decode(message, type=_Message))
        except msgspec.DecodeError:
            # Messages about no file are plain text.
            continue
    return decoded


def _blocking_module(
    error: CompileError, group: SourceGroup, problems: list[SourceProblem]
) -> str | None:
    """Report a blocking error, and return its module."""
    module = error.module_with_blocker
    if module is None:
        return _crashed_module('\n'.join(error.messages), group.options, problems)
    reason = _blocking_message(error.messages, group.path_of(module))
    problems.append(
        SourceProblem(
            reason.file,
            f'mypy cannot analyse this file: {reason.message}',
            line=max(reason.line, 0),
        )
    )
    return module


def _blocking_message(messages: list[str], path: str | None) -> _Message:
    """Return the last error in a file: the earlier ones did not stop mypy."""
    decoded = _decode_messages(messages)
    in_file = [
        message for message in decoded if message.file == path and message.severity == 'error'
    ]
    return next(reversed(in_file or decoded), None) or _Message('', 0, ' '.join(messages))


def _crashed_module(output: str, options: Options, problems: list[SourceProblem]) -> str | None:
    """Report a crash, and return the module that mypy was reading; None if unknown."""
    lines = output.splitlines()
    crash = next(
        (match for line in reversed(lines) if (match := _CRASH.match(line)) is not None), None
    )
    if crash is None:
        errors = [
            message.message for message in _decode_messages(lines) if message.severity == 'error'
        ]
        reasons = errors or [line for line in lines if line] or ['no reason given']
        problems.append(SourceProblem('', f'mypy crashed: {reasons[-1]}'))
        return None
    problems.append(
        SourceProblem(
            crash['path'],
            'mypy crashed in this file, because of a bug in mypy or in one of its plugins.',
            line=int(crash['line'] or 0),
        )
    )
    return module_of_path(crash['path'], options)
