"""What a change brings: the findings of now without those that a commit had already.

The commit is checked as a whole and not only in what was changed, so that a finding in a file that nobody has touched counts as
new where the change is its cause. It is checked in a process of its own, at the same time as the working tree.
"""

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from seamwise.check.checking import Report, run_check
from seamwise.check.findings import Finding
from seamwise.check.git import Export, export_commit, find_commit
from seamwise.check.mypy_sources import SourceProblem
from seamwise.check.settings import CheckSettings
from seamwise.containers import Failure, Result, Success

Asked: TypeAlias = Callable[[Path], Result[CheckSettings, str]]
"""Gives the settings that count in a folder."""

Key: TypeAlias = tuple[str, str, str, str]
"""What makes a finding the same: its code, file and message, and its line of source, wherever that stands now."""


class BaselineRequest(Struct, frozen=True):
    """What the other process is to check."""

    paths: tuple[str, ...]
    settings: CheckSettings
    whole: bool


class Comparison(Struct, frozen=True):
    """What is new, and what could not be read of the commit: findings there count as new."""

    report: Report
    problems: tuple[SourceProblem, ...]


def new_findings(
    paths: Sequence[str], base: str, asked: Asked, *, whole: bool = False, no_cache: bool = False
) -> Result[Comparison, str]:
    """Check the paths, and leave out what the commit `base` had already; fails with a line that says why it cannot be done.

    `whole` and `no_cache` are those of `check`.
    """
    found = find_commit(base)
    if isinstance(found, Failure):
        return found
    before = found.unwrap()
    outside = next((one for one in paths if before.within(one) is None), None)
    if outside is not None:
        return Failure(
            f'{outside} is outside of the repository {before.root}, which alone has {base!r}.'
        )
    settings = asked(Path.cwd())
    if isinstance(settings, Failure):
        return settings
    with export_commit(before) as export:
        old = _settings(export, asked)
        if isinstance(old, Failure):
            return Failure(f'in {base}: {old.failure().replace(f"{export.folder}{os.sep}", "")}')
        with _checking(
            BaselineRequest(tuple(_paths(paths, export)), old.unwrap(), whole), export
        ) as process:
            now = run_check(paths, settings.unwrap(), whole=whole, no_cache=no_cache)
            then = _report(process)
        broken = next((one for one in then.problems if _is_whole(one, then)), None)
        if broken is not None:
            return Failure(f'{base} cannot be checked: {broken.message}')
        return Success(
            Comparison(replace(now, findings=tuple(_new(now, then, export))), then.problems)
        )


def _settings(export: Export, asked: Asked) -> Result[CheckSettings, str]:
    """Give the settings of the commit; a file outside of the repository counts for both."""
    folder = export.here
    while folder.is_relative_to(export.folder):
        if (folder / 'pyproject.toml').is_file():
            return asked(folder)
        folder = folder.parent
    return asked(export.commit.root.parent)


def _paths(paths: Sequence[str], export: Export) -> Iterator[str]:
    """Give those that the commit has, and what has come into them from elsewhere since."""
    start = export.commit.prefix or os.curdir
    names = [export.commit.within(one) or os.curdir for one in paths]
    yield from (
        os.path.relpath(one, start) for one in names if os.path.lexists(export.folder / one)
    )
    for before, now in export.renames.items():
        if _is_below(now, names) and not _is_below(before, names):
            yield os.path.relpath(before, start)


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(one == os.curdir or Path(path).is_relative_to(one) for one in folders)


@contextmanager
def _checking(
    order: BaselineRequest, export: Export
) -> Generator['subprocess.Popen[bytes] | None']:
    """Check the commit in the meantime; there is no process where it has nothing of what is asked for."""
    if not order.paths:
        yield None
        return
    file = export.folder.parent / 'order.json'
    # Not by msgspec: a file name that is no UTF-8 has to come through.
    file.write_text(json.dumps(msgspec.to_builtins(order)), encoding='utf-8')
    export.here.mkdir(parents=True, exist_ok=True)
    # Nothing that lies in the current directory, which is the commit's, may stand in for a module of ours (-P).
    command = [sys.executable, '-P', '-m', 'seamwise.check.diff', str(file)]
    with subprocess.Popen(  # noqa: S603 -- no shell
        command,
        cwd=export.here,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _report(process: 'subprocess.Popen[bytes] | None') -> Report:
    if process is None:
        return Report((), (), 0, 0.0)
    told, said = process.communicate()
    if process.returncode:
        raise RuntimeError(
            f'checking the commit ended with {process.returncode}: {said.decode(errors="replace")}'
        )
    return msgspec.convert(json.loads(told), Report)


def _is_whole(problem: SourceProblem, report: Report) -> bool:
    """Whether nothing at all was read for it: then everything would look new."""
    return problem.is_unread and (
        not problem.path or (not report.files and problem.message.startswith('mypy '))
    )


def _new(now: Report, then: Report, export: Export) -> Iterator[Finding]:
    """Give the findings that the commit had not; of several that look the same, those on lines that are new."""
    had: Counter[Key] = Counter()
    for one in then.findings:
        name = export.within(one.path) or one.path
        had[_key(one, export.renames.get(name, name))] += 1
    alike: defaultdict[Key, list[Finding]] = defaultdict(list)
    for one in now.findings:
        alike[_key(one, export.commit.within(one.path) or one.path)].append(one)
    new: set[Finding] = set()
    for key, findings in alike.items():
        if 0 < had[key] < len(findings):
            changed = export.changed_lines(key[1])
            findings.sort(
                key=lambda one: not changed.isdisjoint(range(one.line, one.last_line + 1))
            )
        new.update(findings[had[key] :])
    yield from (one for one in now.findings if one in new)


def _key(finding: Finding, name: str) -> Key:
    return finding.code, name, finding.message, finding.source.strip()


def _main(file: str) -> None:
    asked = msgspec.convert(json.loads(Path(file).read_text(encoding='utf-8')), BaselineRequest)
    with redirect_stdout(sys.stderr):
        # What a plugin of mypy prints is no part of the report.
        report = run_check(asked.paths, asked.settings, whole=asked.whole, no_cache=True)
    sys.stdout.write(json.dumps(msgspec.to_builtins(report)))


if __name__ == '__main__':
    _main(sys.argv[1])
