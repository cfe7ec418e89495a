"""The files that are asked for, in groups that mypy can read together, and the options that it reads them with."""

import ast
import io
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from mypy.find_sources import InvalidSourceList, create_source_list
from mypy.main import process_options
from mypy.modulefinder import BuildSource
from mypy.options import Options
from mypy.util import decode_python_encoding

ALL_MODULES = '*.*'
"""The pattern of mypy that every module matches."""


class SourceProblem(Struct, frozen=True):
    """What could not be read, or not in full."""

    path: str
    message: str
    line: int = 0
    is_unread: bool = True
    """False where the file was read, and knows less than it might."""


class SourceGroup(Struct):
    """Files whose modules have names of their own, and the options of mypy for them."""

    sources: list[BuildSource]
    options: Options

    def leave_out(self, module: str) -> None:
        """Let what comes from a module have any type: mypy would end at it."""
        self.sources = [one for one in self.sources if one.module != module]
        own = self.options.per_module_options
        own[module] = {**own.get(module, {}), 'follow_imports': 'skip'}


def mypy_options(problems: list[SourceProblem]) -> Options | None:
    """Read the configuration of mypy in the current directory; None where mypy refuses it."""
    said = io.StringIO()
    try:
        _, options = process_options([], stdout=said, stderr=said, require_targets=False)
    except SystemExit:
        problems.append(
            SourceProblem(
                '', f'mypy refuses its configuration: {" ".join(said.getvalue().split())}'
            )
        )
        return None
    options.incremental = False
    options.cache_dir = os.devnull
    options.export_types = True
    options.preserve_asts = True
    # As mypy has it by itself from 2.4 on.
    options.native_parser = True
    options.num_workers = 0
    options.check_untyped_defs = True
    options.output = 'json'
    options.ignore_errors = False
    options.report_dirs = {}
    # The bodies of what others wrote are not read; what is asked for is, also where its errors are ignored.
    own = {
        name: {
            option: value
            for option, value in section.items()
            if option not in {'ignore_errors', 'check_untyped_defs'}
        }
        for name, section in options.per_module_options.items()
    }
    options.per_module_options = {ALL_MODULES: {'preserve_asts': False}, **own}
    return options


def source_groups(
    paths: Iterable[str], options: Options, problems: list[SourceProblem]
) -> list[SourceGroup]:
    """Find the files, and part those whose modules have the same name: mypy knows one module by each name.

    The files of one root stay together, since they import each other.
    """
    roots: dict[str | None, list[BuildSource]] = {}
    for source in _found(paths, options, problems):
        roots.setdefault(source.base_dir, []).append(source)
    found: list[SourceGroup] = []
    for sources in roots.values():
        names = {one.module for one in sources}
        group = next(
            (one for one in found if names.isdisjoint(own.module for own in one.sources)), None
        )
        if group is None:
            group = SourceGroup([], copy_options(options))
            found.append(group)
        group.sources += sources
    return found


def copy_options(options: Options) -> Options:
    """Copy options with their sections; mypy changes those that it is handed."""
    return options.apply_changes({'per_module_options': dict(options.per_module_options)})


def leave_out_unreadable(group: SourceGroup, problems: list[SourceProblem]) -> bool:
    """Leave out the files that do not parse; gives whether there are any."""
    found = [
        (one, problem)
        for one in group.sources
        if (problem := parse_problem(one.path or '')) is not None
    ]
    for source, problem in found:
        problems.append(problem)
        group.leave_out(source.module)
    return bool(found)


def read_source(path: str) -> str:
    """Give what is written in a file, decoded as Python would."""
    return decode_python_encoding(Path(path).read_bytes())


def parse_problem(path: str) -> SourceProblem | None:
    """Say why Python cannot read a file; None where it can."""
    try:
        with warnings.catch_warnings(action='ignore'):
            ast.parse(read_source(path))
    except SyntaxError as wrong:
        return SourceProblem(path, f'it does not parse: {wrong.msg}.', line=wrong.lineno or 1)
    except (RecursionError, MemoryError):
        return too_deep_problem(path)
    except (OSError, ValueError) as wrong:
        return SourceProblem(path, f'it cannot be read: {wrong}.')
    return None


def relative_path(path: str) -> str:
    """Give a path as seen from the current directory."""
    try:
        return os.path.relpath(path)
    except ValueError:
        # On another drive there is no way from here.
        return path


def too_deep_problem(path: str) -> SourceProblem:
    """Say that Python itself cannot follow an expression."""
    return SourceProblem(path, 'it cannot be read: an expression in it is too deep for Python.')


def _found(
    paths: Iterable[str], options: Options, problems: list[SourceProblem]
) -> Iterator[BuildSource]:
    seen: set[str] = set()
    for path in paths:
        refused = _refused(path)
        if refused is not None:
            problems.append(SourceProblem(path, refused))
            continue
        for source in _sources(path, options, problems):
            own = os.path.normpath(source.path or '')
            if own not in seen:
                seen.add(own)
                yield BuildSource(own, source.module, base_dir=source.base_dir)


def _refused(path: str) -> str | None:
    if not Path(path).exists():
        return 'there is no such file or folder.'
    if Path(path).is_file() and not path.endswith(('.py', '.pyi')):
        return f'this is {"a notebook; its code must be exported to a .py file first" if path.endswith(".ipynb") else "no Python file"}.'
    return None


def _sources(path: str, options: Options, problems: list[SourceProblem]) -> Sequence[BuildSource]:
    try:
        return create_source_list([path], options)
    except InvalidSourceList as refused:
        problems.append(SourceProblem(path, f'{str(refused).rstrip(".")}.'))
        return ()
