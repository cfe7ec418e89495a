"""Runs of mypy on a group of files, and their results.

All use of `mypy.build` is here: the build itself, its cache, its error messages and its crashes.
"""

import gc
import io
import re
import sys
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct
from mypy import build
from mypy.errors import CompileError
from mypy.modulefinder import BuildSource
from mypy.nodes import Expression, MypyFile, SymbolTableNode, TypeAlias, TypeInfo
from mypy.options import Options
from mypy.types import AnyType, Type, get_proper_type

from seamwise._text.phrases import pluralize
from seamwise.check._mypy.files import CheckedFiles
from seamwise.check._mypy.sources import (
    SourceGroup,
    SourceProblem,
    copy_options,
    is_signal_exit,
    module_of_path,
    relative_path,
)
from seamwise.check.facts import MissingImport

if sys.platform != 'win32':
    import resource

__all__ = [
    'CAN_CACHE',
    'Build',
    'TypeErrorPlace',
    'gc_disabled',
    'import_problems',
    'missing_imports',
    'run_mypy',
]

CAN_CACHE: Final = hasattr(Options(), 'sqlite_num_shards')
"""Whether this mypy has the cache that the check knows."""

_STACK_SIZE = 512 * 1024 * 1024
"""Stack limit in bytes during a build; mypy's parser is recursive. Pages are allocated on use."""

_NEW_OBJECTS = 3_000_000
"""New objects before a collection; mypy has 200,000.

A build takes 20 % less time, because there is little garbage, and each collection visits all new
objects. It needs up to 200 MB more memory.
"""

_COLLECTIONS = 30
"""Collections of a generation before one of the next, as in mypy."""

_CRASH = re.compile(
    r'^(?P<path>.+?):(?:(?P<line>\d+):)? error: (?:INTERNAL ERROR|Cannot parse file)'
)

_PLUGIN_ERROR = re.compile(
    r'^Error (?:calling the plugin\(version\) entry point|constructing plugin instance)'
    r' of (?P<plugin>.+)$',
    re.MULTILINE,
)

_TEXT_MESSAGE = re.compile(
    r'^(?P<file>.+?):(?P<line>\d+): (?P<severity>error|note): (?P<message>.+?)'
    r'(?:  \[(?P<code>[\w-]+)\])?$'
)
"""A message of an older mypy that stops it: such messages are not written as JSON."""

_IMPORT_CODES = frozenset({'import-not-found', 'import-untyped'})
_OWN_MODULE = re.compile(r'"(?:seamwise|returns)(?:\.[\w.]+)?"')
_RESULT_PACKAGES = frozenset({'seamwise', 'returns'})
_RESULT_MODULES: Final = ('seamwise', 'seamwise._results.containers', 'returns.result')
_FOLDERS_OF_PACKAGES = frozenset({'site-packages', 'dist-packages'})
_INSTALL_HELP = (
    'Install it in the environment of the project,'
    ' or name another environment with --python-executable.'
)


class TypeErrorPlace(NamedTuple):
    """File of an error that mypy reports, and its code."""

    path: str
    code: str


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
    def type_errors(self) -> Counter[TypeErrorPlace]:
        """Numbers of mypy's errors by file and code."""
        return Counter(
            TypeErrorPlace(relative_path(message.file), message.code or '')
            for message in _decode_messages(self.messages)
            if message.severity == 'error'
        )

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

    def search_path(self, module: str) -> str:
        """Return the path at which mypy finds a module, or an empty string."""
        path = self._manager.find_module_cache.find_module(module)
        return path if isinstance(path, str) else ''

    def neighbours(self, module: str) -> Iterator[str]:
        """Yield the modules that a module imports, except those of installed packages."""
        folder = self._source_folder(module)
        for name in self._result.graph[module].dependencies:
            if name not in self:
                continue
            path = Path(self.path(name)).absolute()
            is_installed = (
                _is_installed(path.relative_to(folder))
                if path.is_relative_to(folder)
                else _is_installed(path) or name.partition('.')[0] in _RESULT_PACKAGES
            )
            if not is_installed:
                yield name

    def have_one_source_folder(self, first: str, second: str) -> bool:
        """Return whether two modules are in the same source folder."""
        return self._source_folder(first) == self._source_folder(second)

    def _source_folder(self, module: str) -> Path:
        path = Path(self.path(module)).absolute()
        package = path.parent if path.stem == '__init__' else path
        return package.parents[module.count('.')]

    def is_imported(self, package: str) -> bool:
        """Return whether a module of another package imports this one, or a module of it."""
        return any(
            name.partition('.')[0] == package
            for importer, state in self._result.graph.items()
            if importer.partition('.')[0] != package
            for name in (*state.dependencies, *state.suppressed)
        )

    def unresolved_imports(self) -> Iterator[tuple[str, str, int]]:
        """Yield the name, the importer and the line of each import without types."""
        for importer, state in self._result.graph.items():
            for name in state.suppressed:
                yield name, importer, state.dep_line_map.get(name, 1)

    def missing_type(self, module: str, names: Iterable[str]) -> str:
        """Return the first name that is no class in a module, and no alias; '' if all are.

        All names of a cached module are taken for types.
        """
        tree = self.tree(module)
        if tree is None:
            return ''
        return next((name for name in names if not _is_type(tree.names.get(name))), '')

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
        if not self._manager.options.incremental:
            return
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
        except SystemExit as error:
            if is_signal_exit(error):
                raise
            # mypy exits on an internal error.
            module = _crashed_module(output.getvalue(), group.options, problems)
        except CompileError as error:
            if group.exclude_unparsable(problems):
                continue
            module = _blocking_module(error, group, problems)
        except Exception as error:
            problem = _plugin_problem(output.getvalue(), error, options)
            if problem is None:
                raise
            problems.append(problem)
            return None
        if module is None or module in excluded:
            return None
        excluded.add(module)
        group.exclude(module)
    return None


def _is_type(symbol: SymbolTableNode | None) -> bool:
    """Return whether a name of a module is a class, or an alias of types other than Any."""
    node = symbol.node if symbol is not None else None
    if isinstance(node, TypeAlias):
        return not isinstance(get_proper_type(node.target), AnyType)
    return isinstance(node, TypeInfo)


def _is_installed(path: Path) -> bool:
    """Return whether a path leads through the folder of the packages of an environment."""
    return not _FOLDERS_OF_PACKAGES.isdisjoint(path.parts)


def missing_imports(build: Build) -> Mapping[str, Sequence[MissingImport]]:
    """Return the imports that mypy could not resolve, by file: their names have no types."""
    imports: dict[str, list[MissingImport]] = {}
    for message in _decode_messages(build.messages):
        if message.code in _IMPORT_CODES and message.severity == 'error':
            path = relative_path(message.file)
            imports.setdefault(path, []).append(MissingImport(message.line, message.message))
    return imports


def import_problems(
    imports: Mapping[str, Sequence[MissingImport]], build: Build
) -> Iterator[SourceProblem]:
    """Yield a problem for each module that is missing, at its first import.

    Without `returns` and `seamwise` themselves, no Result has a type, and the check ends as if no
    file could be read.
    """
    first: dict[str, tuple[str, int]] = {}
    files: dict[str, set[str]] = {}
    for path, items in imports.items():
        for item in items:
            first.setdefault(item.message, (path, item.line))
            files.setdefault(item.message, set()).add(path)
    own = [message for message in first if _OWN_MODULE.search(message)]
    hiding = _hiding_problem(build)
    for message, (path, line) in first.items():
        is_own = message in own
        if is_own and hiding is not None:
            continue
        others = len(files[message]) - 1
        places = f', also in {pluralize(others, "other file")}' if others else ''
        effect = 'its values have no types, so no rule checks them.'
        if is_own:
            effect = f'no Result has a type. {_INSTALL_HELP}'
        text = f'{message.rstrip(".")}{places}: {effect}'
        yield SourceProblem(path, text, line=line, is_unread=is_own)
    if hiding is not None:
        yield hiding
    elif not own:
        yield from _unreported_problems(build)


def _hiding_problem(build: Build) -> SourceProblem | None:
    """Return the problem of a stub or file that takes the place of a package of Results."""
    for module in _RESULT_MODULES:
        if module not in build or not build.is_imported(module.partition('.')[0]):
            continue
        path = build.path(module)
        if module == 'returns.result' and 'seamwise' not in build and not path.endswith('.pyi'):
            # The project may have a package of its own with this name, such as one on finance.
            continue
        name = build.missing_type(module, ('Result', 'Success', 'Failure'))
        if name:
            # A cached module has no tree, with which the next check would find the problem.
            build.remove_from_cache([module])
            return _hidden_package(path, module, f'type `{name}`')
    return None


def _unreported_problems(build: Build) -> Iterator[SourceProblem]:
    """Yield the problem of a package of Results that only modules outside the check import."""
    for module, importer, line in build.unresolved_imports():
        package = module.partition('.')[0]
        path = Path(build.path(importer))
        is_library = importer.partition('.')[0] in _RESULT_PACKAGES
        if package not in _RESULT_PACKAGES or (not is_library and _is_installed(path)):
            continue
        found = build.search_path(package)
        if Path(found).is_file():
            if found.endswith('.pyi'):
                yield _hidden_package(found, package, f'module `{module}`')
                return
        else:
            text = f'The package `{package}` is not installed: no Result has a type. '
            place = '' if is_library else relative_path(str(path))
            yield SourceProblem(place, text + _INSTALL_HELP, line=0 if is_library else line)
            return


def _hidden_package(path: str, module: str, missing: str) -> SourceProblem:
    """Return the problem of a path that mypy takes for a module of a package of Results."""
    if not Path(path).is_file():
        # A folder is found only if there is no package.
        text = f'The package `{module}` is not installed: no Result has a type. {_INSTALL_HELP}'
        return SourceProblem('', text)
    kind, advice = (
        (f'this stub of `{module}`', 'Remove it from the search path of mypy.')
        if path.endswith('.pyi')
        else (f'this file hides the module `{module}` of the library and', 'Rename it.')
    )
    text = f'{kind} has no {missing}, so no Result has a type. {advice}'
    return SourceProblem(relative_path(path), text)


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
        # Move all new objects to the oldest generation; the next collection would visit each.
        gc.freeze()
        gc.unfreeze()
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
    with _rare_collections():
        return Build(build.build(_all_sources(group), options, fscache=CheckedFiles()))


@contextmanager
def _rare_collections() -> Generator[None]:
    """Collect garbage less often than mypy does, and restore the thresholds that it changes.

    mypy sets its own thresholds when a build begins. This raises them at the first collection.
    """
    thresholds = gc.get_threshold()

    def raise_thresholds(_phase: str, _details: Mapping[str, int]) -> None:
        gc.set_threshold(_NEW_OBJECTS, _COLLECTIONS, _COLLECTIONS)

    gc.callbacks.append(raise_thresholds)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        # A plugin of mypy may have removed it.
        with suppress(ValueError):
            gc.callbacks.remove(raise_thresholds)


def _all_sources(group: SourceGroup) -> list[BuildSource]:
    sources = list(group.sources)
    if any(source.text is not None for source in sources):
        # mypy ignores the text of a source if it parses no other file.
        sources.append(BuildSource(None, '_seamwise_empty', ''))
    return sources


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
    hint: str | None = None
    """Notes on the message."""
    severity: str = 'error'


def _decode_messages(messages: Iterable[str]) -> list[_Message]:
    decoded: list[_Message] = []
    for message in messages:
        try:
            decoded.append(msgspec.json.decode(message, type=_Message))
        except msgspec.DecodeError:
            # Messages about no file are plain text.
            match = _TEXT_MESSAGE.match(message)
            if match is not None:
                decoded.append(msgspec.convert(match.groupdict(), _Message, strict=False))
    return decoded


def _blocking_module(
    error: CompileError, group: SourceGroup, problems: list[SourceProblem]
) -> str | None:
    """Report a blocking error, and return its module."""
    module = error.module_with_blocker
    if module is None:
        return _crashed_module('\n'.join(error.messages), group.options, problems)
    reason = _blocking_message(error.messages, group.path_of(module))
    problem = SourceProblem(
        reason.file,
        f'mypy cannot analyse this file: {reason.message}{_hint(error.messages, reason)}',
        line=max(reason.line, 0),
    )
    if problem not in problems:
        # mypy may stop at this file again, although it is excluded.
        problems.append(problem)
    return module


def _hint(messages: Iterable[str], reason: _Message) -> str:
    """Return mypy's advice on an error, such as on files without a package."""
    notes = [
        note.message.strip()
        for note in _decode_messages(messages)
        if note.severity == 'note' and note.file == reason.file
    ]
    notes += [part.strip() for part in (reason.hint or '').split('\n') if part.strip()]
    return f'. {" ".join(notes)}' if notes else ''


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
        problems.append(_stop_problem(lines))
        return None
    problems.append(
        SourceProblem(
            crash['path'],
            'mypy crashed in this file, because of a bug in mypy or in one of its plugins.',
            line=int(crash['line'] or 0),
        )
    )
    return module_of_path(crash['path'], options)


def _plugin_problem(output: str, error: Exception, options: Options) -> SourceProblem | None:
    """Return the problem of a plugin that raised an error when mypy created it; else None."""
    match = _PLUGIN_ERROR.search(output)
    if match is None:
        return None
    reason = ' '.join(f'{type(error).__name__}: {error}'.split()).rstrip('.')
    return SourceProblem(
        options.config_file or '',
        f'mypy cannot run: its plugin `{match["plugin"]}` raised {reason}.',
    )


def _stop_problem(lines: Sequence[str]) -> SourceProblem:
    """Return the reason why mypy stopped before it read a file, such as a missing plugin."""
    errors = [message for message in _decode_messages(lines) if message.severity == 'error']
    if errors:
        error = errors[-1]
        text = error.message.rstrip('.')
        if text.startswith('Error importing plugin'):
            text += '. Install it in the environment of seamwise check'
        return SourceProblem(error.file, f'mypy cannot run: {text}.', line=max(error.line, 0))
    reasons = [line for line in lines if line] or ['it gave no reason']
    reason = re.sub(r'^(?:mypy: )?(?:error: )?', '', reasons[-1]).rstrip('.')
    return SourceProblem('', f'mypy cannot run: {reason}.')
