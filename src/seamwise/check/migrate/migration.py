"""Migration of a program: decisions, new sources, and their check by mypy."""

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from msgspec import DecodeError, Struct, field, toml

from seamwise._results.containers import Failure, Result, Success
from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.collection.analysis import analyse
from seamwise.check.migrate.answers import seam_answers, waiting_middlewares
from seamwise.check.migrate.decisions import names_in
from seamwise.check.migrate.exception_classes import NotMigrated
from seamwise.check.migrate.flow import Flow, left_alone
from seamwise.check.migrate.imports import names_imported_from
from seamwise.check.migrate.kinds import Kinds
from seamwise.check.migrate.outside import outside_files, outside_uses
from seamwise.check.migrate.propagation import propagate
from seamwise.check.migrate.rewriting import rewrite
from seamwise.check.migrate.seams.commands import Commands, commands_of
from seamwise.check.migrate.seams.handler import Answers
from seamwise.check.migrate.units import Unit
from seamwise.check.typed_ast.program import Module, Program, is_annotated

PUBLIC = 'public'
"""Name for all public functions."""
_MAX_ROUNDS = 12
"""Number of times that code is left alone because mypy rejects its new form."""


class Migration(Struct, frozen=True):
    """New contents of files, and what is not changed."""

    contents: Mapping[Path, tuple[bytes, bytes]]
    """Old and new content of each file that changes."""
    classes: tuple[str, ...]
    functions: tuple[str, ...]
    not_migrated: tuple[NotMigrated, ...]
    outside: tuple[NotMigrated, ...]
    """Uses of what is converted in files that are not part of the migration."""
    problems: tuple[SourceProblem, ...]
    """Imports without types and similar, in files that could be analysed."""


class MypyFailed(Exception):
    """Mypy could not check the new sources."""


class _Refusals(Struct):
    """What mypy has rejected so far."""

    families: dict[str, NotMigrated]
    units: dict[str, str]


class Selection(Struct, frozen=True):
    """Code to convert, and code that keeps its exceptions."""

    functions: AbstractSet[str] = frozenset()
    """Full names of the functions to convert; empty for all."""
    place: tuple[str, int] | None = None
    """Path and line of the exception class to convert; None for all."""
    keep: AbstractSet[str] = frozenset()
    """Full names of the functions that keep their exceptions for callers outside; `public` for all
    whose names have no underscore."""
    suffix: str = '_result'
    """End of the names of their functions that return a Result."""


class _Keeping(Struct, frozen=True):
    """Functions that keep their exceptions for callers outside."""

    names: AbstractSet[str]
    suffix: str

    def __contains__(self, unit: Unit) -> bool:
        is_public = unit.is_public and not unit.is_inner
        return unit.name in self.names or (PUBLIC in self.names and is_public)

    def apply(self, flow: Flow) -> None:
        """Give functions a second name and their classes a twin, or refuse the classes."""
        if not self.names:
            return
        kinds = flow.kinds
        called = {unit.name for unit in flow.called_by_raising_code()}
        for unit in flow.units:
            if unit.node is None or not unit.is_converted:
                continue
            # Code that keeps exceptions calls the functions by their old names.
            if unit in self or unit.is_value or unit.keeps_calls or unit.name in called:
                unit.result_name = f'{unit.node.name}{self.suffix}'
                if unit.result_name in names_in(unit.module.syntax):
                    reason = f'leaves `{unit.short_name}`, beside which {unit.result_name!r} exists'
                    for kind in kinds.of_names(unit.escapes):
                        kinds.refuse(kind, unit.module, unit.node.lineno, reason)
        used = {
            name
            for unit in flow.units
            if unit.is_converted
            for site in unit.sites
            for name in site.kinds
        }
        for kind in kinds.all.values():
            kind.is_used = kind.name in used


def plan_migration(
    paths: Sequence[str],
    *,
    selection: Selection = Selection(),  # noqa: B008 -- immutable
    python_executable: str = '',
    progress: Callable[[str], object] = lambda _: None,
) -> Result[Migration, tuple[SourceProblem, ...]]:
    """Plan the migration of files and folders, or return the problems that prevent it.

    Args:
        paths: Files and folders.
        selection: Code to convert; all without it.
        python_executable: Python of the environment with the imported packages.
        progress: Called with the name of each stage.
    """
    progress('Analysing the types')
    analysis = analyse(paths, python_executable=python_executable)
    unread = tuple(problem for problem in analysis.problems if problem.is_unread)
    if unread:
        return Failure(unread)
    program = analysis.program
    contents = {module: module.path.read_bytes() for module in program.modules}
    functions = selection.functions
    families = _families_at(program, selection.place)
    unknown = _unknown_names(program, functions | (selection.keep - {PUBLIC}))
    if unknown:
        return Failure(unknown)
    keeping = _Keeping(selection.keep, selection.suffix)
    others = outside_files([module.path for module in contents])
    commands = None if keeping.names else commands_of(program, others, list(_entry_points()))
    refusals = _Refusals({}, {})
    errors: list[tuple[str, int, str]] = []
    imported = names_imported_from(
        (
            *((module.name, module.syntax) for module in contents),
            *((path.stem, tree) for path, tree in others),
        )
    )
    for _ in range(_MAX_ROUNDS):
        flow = _decide(program, functions, families, refusals, keeping, commands)
        progress('Rewriting')
        new = {
            module.path: (content, changed)
            for module, content in contents.items()
            if (changed := rewrite(module, flow, content, imported)) != content
        }
        progress('Checking the new types')
        try:
            errors = _new_errors(paths, new, is_repeating=bool(keeping.names))
            errors = _without_unused_ignores(_of_checked_code(errors, flow, new), new)
        except MypyFailed as error:
            return Failure((SourceProblem('', f'mypy: {error}'),))
        if not errors:
            return Success(_migration(flow, new, functions, families, others, analysis.problems))
        if not _refuse(errors, flow, new, refusals):
            break
    return Failure(tuple(SourceProblem(path, message, line=line) for path, line, message in errors))


def _families_at(program: Program, place: tuple[str, int] | None) -> frozenset[str]:
    if place is None:
        return frozenset()
    return frozenset(
        name
        for name, kind in Kinds(program, {}).all.items()
        if os.path.relpath(kind.module.path) == place[0] and kind.node.lineno == place[1]
    )


def _unknown_names(program: Program, functions: AbstractSet[str]) -> tuple[SourceProblem, ...]:
    known = Flow(program, Kinds(program, {}), {}, frozenset()).by_name
    return tuple(
        SourceProblem('', f'there is no function {name!r} in the analysed files.')
        for name in sorted(functions - known.keys())
    )


def _decide(
    program: Program,
    functions: AbstractSet[str],
    families: AbstractSet[str],
    refusals: _Refusals,
    keeping: _Keeping,
    commands: Commands | None,
) -> Flow:
    """Return the decisions; a class that is refused on the way starts them anew."""
    refused = dict(refusals.families)
    rejected: dict[str, str] = {}
    answers: Answers | None = None
    kept: list[NotMigrated] = []
    has_application = True
    while True:
        kinds = Kinds(
            program,
            refused,
            is_keeping=bool(keeping.names),
            has_application=has_application,
            commands=commands,
            answers=answers or Answers(),
        )
        blocked = {
            **dict.fromkeys(
                () if keeping.names else _entry_points(), 'is an entry point in pyproject.toml'
            ),
            **refusals.units,
            **rejected,
        }
        if functions or families:
            _limit(kinds, program, blocked, functions, families)
        flow = propagate(Flow(program, kinds, blocked, functions))
        keeping.apply(flow)
        if flow.rejected:
            rejected |= flow.rejected
            continue
        if set(kinds.refused) - set(refused):
            refused, answers, rejected = dict(kinds.refused), None, {}
            continue
        if answers is not None:
            kinds.unanswered = [*kept, *answers.kept]
            return flow
        answers = seam_answers(flow)
        waiting = list(waiting_middlewares(flow, answers))
        if waiting:
            kept, has_application = waiting, False
            answers, rejected = None, {}
        elif answers.routes or answers.exits:
            rejected = {}
        else:
            kinds.unanswered = [*kept, *answers.kept]
            return flow


class _Project(Struct, rename='kebab'):
    scripts: dict[str, str] = field(default_factory=dict[str, str])
    gui_scripts: dict[str, str] = field(default_factory=dict[str, str])


class _PyProject(Struct):
    project: _Project = field(default_factory=_Project)


def _entry_points() -> Iterator[str]:
    """Yield the functions that installed scripts call, whose returned value is an exit code."""
    try:
        content = Path('pyproject.toml').read_bytes()
        project = toml.decode(content, type=_PyProject).project
    except (OSError, DecodeError):
        return
    for target in (*project.scripts.values(), *project.gui_scripts.values()):
        yield target.partition('[')[0].strip().replace(':', '.')


_NOT_SELECTED = 'is not selected'


def _limit(
    kinds: Kinds,
    program: Program,
    blocked: Mapping[str, str],
    functions: AbstractSet[str],
    families: AbstractSet[str],
) -> None:
    """Keep the classes that are not selected."""
    flow = propagate(Flow(program, kinds, blocked, frozenset()))
    wanted = {kinds.all[name].family for name in families}
    for name in functions:
        wanted |= {kinds.all[kind].family for kind in flow.by_name[name].escapes}
    # One clause for several classes handles all of them as errors, or all as exceptions.
    together = [
        {kinds.all[name].family for name in clause.classes if name in kinds.all}
        for clause in flow.clauses.values()
    ]
    while joined := [names for names in together if names & wanted and not names <= wanted]:
        wanted.update(*joined)
    for kind in kinds.all.values():
        if kind.family not in wanted:
            kinds.refuse(kind, kind.module, kind.node.lineno, _NOT_SELECTED)


def _migration(
    flow: Flow,
    contents: Mapping[Path, tuple[bytes, bytes]],
    functions: AbstractSet[str],
    families: AbstractSet[str],
    others: Sequence[tuple[Path, ast.Module]],
    problems: tuple[SourceProblem, ...],
) -> Migration:
    is_limited = bool(functions or families)
    classes = tuple(kind.name for kind in flow.kinds.converted() if kind.is_used)
    converted = tuple(unit.name for unit in flow.units if unit.is_converted)
    return Migration(
        contents,
        classes,
        converted,
        tuple(
            sorted(
                item
                for item in left_alone(flow)
                if not (is_limited and item.reason == _NOT_SELECTED)
            )
        ),
        tuple(outside_uses(others, _names_outside(flow))) if classes else (),
        problems,
    )


def _names_outside(flow: Flow) -> list[str]:
    """Return the full names that callers outside cannot use as before."""
    return [
        *(kind.name for kind in flow.kinds.converted() if not kind.has_twin),
        *(unit.name for unit in flow.units if unit.is_converted and not unit.result_name),
    ]


def _new_errors(
    paths: Sequence[str], contents: Mapping[Path, tuple[bytes, bytes]], *, is_repeating: bool
) -> list[tuple[str, int, str]]:
    """Return the errors of mypy that the new contents have, and the old ones have not.

    Args:
        paths: Files and folders.
        contents: Old and new contents.
        is_repeating: Whether kept functions repeat annotations, with their errors.
    """
    if not contents:
        return []
    with tempfile.TemporaryDirectory(prefix='seamwise-') as folder:
        shadows: list[str] = []
        for index, (path, (_, new)) in enumerate(contents.items()):
            shadow = Path(folder) / f'{index}.py'
            shadow.write_bytes(new)
            shadows += ['--shadow-file', str(path), str(shadow)]
        new_errors = _mypy_errors(paths, shadows, folder)
        if not new_errors:
            return []
        old = Counter((path, message) for path, _, message in _mypy_errors(paths, [], folder))
        if is_repeating:
            return [error for error in new_errors if (error[0], error[2]) not in old]
        found: list[tuple[str, int, str]] = []
        for error in new_errors:
            key = (error[0], error[2])
            old[key] -= 1
            if old[key] < 0:
                found.append(error)
        return found


def _of_checked_code(
    errors: Sequence[tuple[str, int, str]],
    flow: Flow,
    contents: Mapping[Path, tuple[bytes, bytes]],
) -> list[tuple[str, int, str]]:
    """Return the errors without those that mypy finds only because a function has annotations now.

    mypy checks no bodies of functions without annotations. Errors in lines that did not change were
    there before.
    """
    found: list[tuple[str, int, str]] = []
    for path, line, message in errors:
        module = next((unit.module for unit in flow.units if str(unit.module.path) == path), None)
        content = contents.get(Path(path))
        if module is not None and content is not None:
            unit = _unit_at(line, content[1], module, flow.units)
            is_unchecked = (
                unit is not None and unit.node is not None and not is_annotated(unit.node)
            )
            text = content[1].split(b'\n')[line - 1].strip()
            if is_unchecked and text in map(bytes.strip, content[0].split(b'\n')):
                continue
        found.append((path, line, message))
    return found


_UNUSED = re.compile(r'Unused "(type: ignore(?:\[[^\]]*\])?)" comment')


def _without_unused_ignores(
    errors: Sequence[tuple[str, int, str]], contents: dict[Path, tuple[bytes, bytes]]
) -> list[tuple[str, int, str]]:
    """Remove comments that the new code does not need, and return the other errors."""
    others: list[tuple[str, int, str]] = []
    by_name = {str(path): path for path in contents}
    for path, line, message in errors:
        found = _UNUSED.match(message)
        place = by_name.get(path)
        if found is None or place is None:
            others.append((path, line, message))
            continue
        old, new = contents[place]
        lines = new.split(b'\n')
        code, mark, rest = lines[line - 1].partition(b'# ' + found[1].encode())
        if not mark:
            others.append((path, line, message))
            continue
        if rest.startswith(b'['):
            # The message names no codes if all of them are unused.
            rest = rest.partition(b']')[2]
        lines[line - 1] = (code + rest.lstrip()).rstrip()
        contents[place] = old, b'\n'.join(lines)
    return others


def _mypy_errors(
    paths: Sequence[str], options: Sequence[str], folder: str
) -> list[tuple[str, int, str]]:
    command = [
        sys.executable, '-m', 'mypy', '--no-error-summary', '--hide-error-context', '--no-pretty',
        '--no-color-output', '--show-error-codes', '--cache-dir', os.path.join(folder, 'cache'),
        *options, '--', *paths,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- no shell
    errors: list[tuple[str, int, str]] = []
    if done.returncode not in {0, 1}:
        text = next(iter((done.stderr + done.stdout).splitlines()), 'mypy ended without a reason.')
        raise MypyFailed(text)
    for text in done.stdout.splitlines():
        path, _, rest = text.partition(':')
        number, _, message = rest.partition(':')
        if number.isdecimal() and message.startswith(' error:'):
            errors.append((path, int(number), message.removeprefix(' error:').strip()))
    return errors


def _refuse(
    errors: Sequence[tuple[str, int, str]],
    flow: Flow,
    contents: Mapping[Path, tuple[bytes, bytes]],
    refusals: _Refusals,
) -> bool:
    """Leave alone what mypy rejects; return whether there was something to leave."""
    before = len(refusals.families) + len(refusals.units)
    for path, line, message in errors:
        module = next((unit.module for unit in flow.units if str(unit.module.path) == path), None)
        if module is None:
            continue
        reason = f'mypy rejects its new form: {message}'
        unit = (
            _unit_at(line, contents[module.path][1], module, flow.units)
            if (module.path in contents)
            else None
        )
        if unit is not None and unit.is_converted:
            refusals.units[unit.name] = reason
            continue
        for kind in flow.kinds.converted():
            if kind.module is module or _uses(kind.name, module, flow.units):
                refusals.families.setdefault(
                    kind.family,
                    NotMigrated(
                        path,
                        kind.node.lineno if kind.module is module else 1,
                        kind.short_name,
                        reason,
                        'Convert the class and its uses by hand.',
                    ),
                )
    return len(refusals.families) + len(refusals.units) > before


def _unit_at(line: int, content: bytes, module: Module, units: Sequence[Unit]) -> Unit | None:
    """Return the function whose new form contains a line."""
    found: list[str] = []
    parents: list[tuple[ast.AST, list[str]]] = [(ast.parse(content), [])]
    while parents:
        node, names = parents.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            if not first <= line <= (node.end_lineno or first):
                continue
            names = [*names, node.name]
            found = names if not isinstance(node, ast.ClassDef) else found
        parents += [(child, names) for child in ast.iter_child_nodes(node)]
    old_names = {
        unit.result_name: unit.node.name for unit in units if unit.node and unit.result_name
    }
    scope = '.'.join([module.name, *(old_names.get(name, name) for name in found[:-1])])
    for unit in units:
        if unit.node is None or not found or unit.name.rpartition('.')[0] != scope:
            continue
        if found[-1] in {unit.node.name, unit.result_name}:
            return unit
    return None


def _uses(name: str, module: Module, units: Sequence[Unit]) -> bool:
    return any(name in site.kinds for unit in units if unit.module is module for site in unit.sites)
