"""One run of mypy over a code base; what cannot be read is told, and the rest read all the same."""

import ast
import io
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from pathlib import Path

import msgspec
from msgspec import Struct
from mypy import build
from mypy.errors import CompileError
from mypy.find_sources import InvalidSourceList, create_source_list
from mypy.main import process_options
from mypy.modulefinder import BuildSource
from mypy.nodes import Expression
from mypy.options import Options
from mypy.types import Type
from mypy.util import decode_python_encoding

from seamwise.check.nodes import Key, Nodes, key_of
from seamwise.check.program import Module, Program

OTHERS = '*.*'
"""The pattern of mypy that every module matches."""


class Problem(Struct, frozen=True):
    """What could not be read, or not in full."""

    path: str
    message: str
    line: int = 0
    is_unread: bool = True
    """False where the file was read, and knows less than it might."""


class Analysis(Struct, frozen=True):
    """A program, and what is missing of it."""

    program: Program
    problems: tuple[Problem, ...]


class _Said(Struct, frozen=True):
    """A message of mypy."""

    file: str
    line: int
    message: str
    code: str | None = None
    severity: str = 'error'


def analyse(paths: Sequence[str]) -> Analysis:
    """Read files and folders with mypy, as the configuration of mypy in the current directory says.

    Whatever cannot be read becomes a Problem, never an exception.
    """
    problems: list[Problem] = []
    options = _options(problems)
    if options is None:
        return Analysis(Program(()), tuple(problems))
    sources = list(_readable(_found(paths, options, problems), options, problems))
    built = _built(sources, options, problems)
    if built is None:
        return Analysis(Program(()), tuple(problems))
    problems += _missing_imports(built.errors)
    return Analysis(Program(tuple(_modules(built, sources))), tuple(problems))


def _options(problems: list[Problem]) -> Options | None:
    said = io.StringIO()
    try:
        _, options = process_options([], stdout=said, stderr=said, require_targets=False)
    except SystemExit:
        problems.append(Problem('', f'mypy refuses its configuration: {" ".join(said.getvalue().split())}'))
        return None
    options.incremental = False
    options.cache_dir = os.devnull
    options.export_types = True
    options.preserve_asts = True
    # Its positions are those of `ast`.
    options.native_parser = False
    options.check_untyped_defs = True
    options.output = 'json'
    options.ignore_errors = False
    options.report_dirs = {}
    # The bodies of what others wrote are not read; what is asked for is, also where its errors are ignored.
    own = {
        name: {option: value for option, value in section.items() if option not in {'ignore_errors', 'check_untyped_defs'}}
        for name, section in options.per_module_options.items()
    }
    options.per_module_options = {OTHERS: {'preserve_asts': False}, **own}
    return options


def _found(paths: Iterable[str], options: Options, problems: list[Problem]) -> Iterator[BuildSource]:
    seen: set[str] = set()
    for path in paths:
        if not Path(path).exists():
            problems.append(Problem(path, 'there is no such file or folder.'))
            continue
        if Path(path).is_file() and not path.endswith(('.py', '.pyi')):
            kind = 'a notebook; its code must be exported to a .py file first' if path.endswith('.ipynb') else 'no Python file'
            problems.append(Problem(path, f'this is {kind}.'))
            continue
        try:
            sources = create_source_list([path], options)
        except InvalidSourceList as refused:
            problems.append(Problem(path, f'{str(refused).rstrip(".")}.'))
            continue
        for source in sources:
            own = os.path.normpath(source.path or '')
            if own not in seen:
                seen.add(own)
                yield BuildSource(own, source.module, base_dir=source.base_dir)


def _readable(sources: Iterable[BuildSource], options: Options, problems: list[Problem]) -> Iterator[BuildSource]:
    for source in sources:
        path = source.path or ''
        try:
            with warnings.catch_warnings(action='ignore'):
                ast.parse(_text(path))
        except SyntaxError as wrong:
            problems.append(Problem(path, f'it does not parse: {wrong.msg}.', line=wrong.lineno or 1))
        except (OSError, ValueError, RecursionError) as wrong:
            problems.append(Problem(path, f'it cannot be read: {wrong}.'))
        else:
            yield source
            continue
        _leave_out(source.module, options)


def _leave_out(module: str, options: Options) -> None:
    """Let what comes from a module have any type: mypy would end at it."""
    options.per_module_options[module] = {**options.per_module_options.get(module, {}), 'follow_imports': 'skip'}


def _built(sources: list[BuildSource], options: Options, problems: list[Problem]) -> build.BuildResult | None:
    """Build, again and again without what mypy ends at."""
    left_out: set[str] = set()
    while sources:
        said_aloud = io.StringIO()
        try:
            with redirect_stderr(said_aloud):
                return build.build(list(sources), _fresh(options))
        except SystemExit:
            # So it ends where it has a bug.
            problems.append(Problem('', f'mypy fails by itself: {said_aloud.getvalue().partition(chr(10))[0]}'))
            return None
        except CompileError as ended:
            module = ended.module_with_blocker
            said = _reason(ended, next((one.path for one in sources if one.module == module), None))
            problems.append(Problem(said.file, f'mypy ends here: {said.message}', line=max(said.line, 0)))
            if module is None or module in left_out:
                return None
        left_out.add(module)
        _leave_out(module, options)
        sources = [one for one in sources if one.module != module]
    return None


def _reason(ended: CompileError, path: str | None) -> _Said:
    """Give what mypy says last of the file that it ends at: what it has said before did not stop it."""
    said = _said(ended.messages)
    of_file = [one for one in said if one.file == path and one.severity == 'error']
    return next(reversed(of_file or said), None) or _Said('', 0, ' '.join(ended.messages))


def _fresh(options: Options) -> Options:
    return options.apply_changes({'per_module_options': options.per_module_options})


def _said(messages: Iterable[str]) -> list[_Said]:
    said: list[_Said] = []
    for message in messages:
        try:
            said.append(msgspec.json.decode(message, type=_Said))
        except msgspec.DecodeError:
            # What mypy says of no file comes as plain text.
            continue
    return said


def _missing_imports(messages: Iterable[str]) -> Iterator[Problem]:
    for one in _said(messages):
        if one.code in {'import-not-found', 'import-untyped'} and one.severity == 'error':
            message = f'{one.message.rstrip(".")}: what comes from there has no type, and no rule sees it.'
            yield Problem(one.file, message, line=one.line, is_unread=False)


def _text(path: str) -> str:
    return decode_python_encoding(Path(path).read_bytes())


def _modules(built: build.BuildResult, sources: Iterable[BuildSource]) -> Iterator[Module]:
    trees = [tree for one in sources if (tree := built.files.get(one.module)) is not None]
    nodes = [Nodes(tree) for tree in trees]
    types = _types(built.types, nodes)
    for tree, own, typed in zip(trees, nodes, types, strict=True):
        yield Module(tree.fullname, Path(tree.path), _text(tree.path), own, typed)


def _types(types: Mapping[Expression, Type], modules: Sequence[Nodes]) -> list[dict[Key, list[Type]]]:
    """Give the types of each module by place.

    Where a type variable stands for one of several types, mypy reads a function once for each, in copies that belong to no
    tree. It hands on types module by module, though, so that copies stand between the nodes of their own module.
    """
    found: list[dict[Key, list[Type]]] = [
        {place: [types[node]] for place, node in one.expressions.items() if node in types} for one in modules
    ]
    owners = {node: number for number, one in enumerate(modules) for node in one.expressions.values()}
    before: int | None = None
    for node, typed in types.items():
        if node in owners:
            before = owners[node]
            continue
        place = key_of(node)
        if before is None or place is None:
            continue
        original = modules[before].expressions.get(place)
        if original is not None and original not in types:
            found[before].setdefault(place, []).append(typed)
    return found
