"""Source files grouped for mypy, and the mypy options of the check.

Only this module, `mypy_build`, `typed_ast.mypy_nodes`, `typed_ast.mypy_types` and the plugin use
internals of mypy: everything except `mypy.nodes` and `mypy.types`. This one uses source discovery,
the configuration reader, `Options` and the source decoder.
"""

import ast
import io
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from mypy.find_sources import InvalidSourceList, SourceFinder, create_source_list
from mypy.fscache import FileSystemCache
from mypy.main import process_options
from mypy.modulefinder import BuildSource
from mypy.options import Options
from mypy.util import decode_python_encoding

_ALL_MODULES = '*.*'
"""Section pattern that matches every module in a mypy configuration."""


class SourceProblem(Struct, frozen=True):
    """File or import that could not be analysed, or only in part."""

    path: str
    message: str
    line: int = 0
    is_unread: bool = True
    """False if the file was analysed, but some types in it are unknown."""


class SourceGroup(Struct):
    """Files with distinct module names, and the mypy options for them."""

    sources: list[BuildSource]
    options: Options

    @property
    def modules(self) -> list[str]:
        """Names of the modules."""
        return [source.module for source in self.sources]

    def path_of(self, module: str) -> str | None:
        """Return the path of a module; None if it is not in the group."""
        return next((source.path for source in self.sources if source.module == module), None)

    def exclude(self, module: str) -> None:
        """Treat the module as Any (follow_imports=skip): mypy cannot analyse it."""
        self.sources = [source for source in self.sources if source.module != module]
        sections = self.options.per_module_options
        sections[module] = {**sections.get(module, {}), 'follow_imports': 'skip'}

    def exclude_unparsable(self, problems: list[SourceProblem]) -> bool:
        """Exclude the files that do not parse, and return whether there are any."""
        unparsable = [
            (source.module, problem)
            for source in self.sources
            if (problem := parse_problem(source.path or '')) is not None
        ]
        for module, problem in unparsable:
            problems.append(problem)
            self.exclude(module)
        return bool(unparsable)


def mypy_options(problems: list[SourceProblem]) -> Options | None:
    """Read the mypy configuration of the current directory; None if mypy rejects it."""
    output = io.StringIO()
    try:
        _, options = process_options([], stdout=output, stderr=output, require_targets=False)
    except SystemExit:
        message = ' '.join(output.getvalue().split())
        problems.append(SourceProblem('', f'mypy refuses its configuration: {message}'))
        return None
    options.incremental = False
    options.cache_dir = os.devnull
    options.export_types = True
    options.preserve_asts = True
    # The default of mypy from 2.4 on.
    options.native_parser = True
    options.num_workers = 0
    options.check_untyped_defs = True
    options.output = 'json'
    options.ignore_errors = False
    options.report_dirs = {}
    # Per-module settings must not hide the files under check: their errors may be ignored by mypy,
    # but their types are needed. The trees of imported modules are not.
    sections = {
        pattern: {
            option: value
            for option, value in section.items()
            if option not in {'ignore_errors', 'check_untyped_defs'}
        }
        for pattern, section in options.per_module_options.items()
    }
    options.per_module_options = {_ALL_MODULES: {'preserve_asts': False}, **sections}
    return options


def copy_options(options: Options) -> Options:
    """Copy options and their per-module sections; a build changes both."""
    return options.apply_changes({'per_module_options': dict(options.per_module_options)})


def source_groups(
    paths: Iterable[str], options: Options, problems: list[SourceProblem]
) -> list[SourceGroup]:
    """Find the Python files, and separate those with equal module names.

    A mypy build cannot contain two modules of one name. Files under the same root stay together,
    since they import each other.
    """
    by_root: dict[str | None, list[BuildSource]] = {}
    for source in _find_sources(paths, options, problems):
        by_root.setdefault(source.base_dir, []).append(source)
    groups: list[SourceGroup] = []
    for sources in by_root.values():
        modules = {source.module for source in sources}
        group = next((group for group in groups if modules.isdisjoint(group.modules)), None)
        if group is None:
            group = SourceGroup([], copy_options(options))
            groups.append(group)
        group.sources += sources
    return groups


def module_of_path(path: str, options: Options) -> str | None:
    """Return the name that mypy gives to the module in a file; None if it has none."""
    try:
        return SourceFinder(FileSystemCache(), options).crawl_up(path)[0]
    except InvalidSourceList:
        return None


def decode_source(content: bytes) -> str:
    """Decode Python source by its byte order mark or coding comment."""
    return decode_python_encoding(content)


def read_source(path: str) -> str:
    """Read and decode a Python file."""
    return decode_source(Path(path).read_bytes())


def parse_problem(path: str) -> SourceProblem | None:
    """Return the reason why Python cannot parse a file; None if it can."""
    try:
        with warnings.catch_warnings(action='ignore'):
            ast.parse(read_source(path))
    except SyntaxError as error:
        return SourceProblem(path, f'it does not parse: {error.msg}.', line=error.lineno or 1)
    except (RecursionError, MemoryError):
        return too_deep_problem(path)
    except (OSError, ValueError) as error:
        return SourceProblem(path, f'it cannot be read: {error}.')
    return None


def too_deep_problem(path: str) -> SourceProblem:
    """Return the problem for an expression that exceeds the recursion limit of Python."""
    return SourceProblem(path, 'it cannot be read: an expression is nested too deeply for Python.')


def relative_path(path: str) -> str:
    """Return a path relative to the current directory."""
    try:
        return os.path.relpath(path)
    except ValueError:
        # On Windows, a path on another drive cannot be relative.
        return path


def _find_sources(
    paths: Iterable[str], options: Options, problems: list[SourceProblem]
) -> Iterator[BuildSource]:
    yielded: set[str] = set()
    for path in paths:
        message = _path_error(path)
        if message is not None:
            problems.append(SourceProblem(path, message))
            continue
        for source in _sources_at(path, options, problems):
            file = os.path.normpath(source.path or '')
            if file not in yielded:
                yielded.add(file)
                yield BuildSource(file, source.module, base_dir=source.base_dir)


def _path_error(path: str) -> str | None:
    if not Path(path).exists():
        return 'there is no such file or folder.'
    if not Path(path).is_file() or path.endswith(('.py', '.pyi')):
        return None
    if path.endswith('.ipynb'):
        return 'this is a notebook; export its code to a .py file first.'
    return 'this is not a Python file.'


def _sources_at(
    path: str, options: Options, problems: list[SourceProblem]
) -> Sequence[BuildSource]:
    try:
        return create_source_list([path], options)
    except InvalidSourceList as error:
        problems.append(SourceProblem(path, f'{str(error).rstrip(".")}.'))
        return ()
