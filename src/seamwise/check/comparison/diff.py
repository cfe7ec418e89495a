"""Findings that a change introduces: those of the working tree that a base commit does not have.

The whole commit is checked, not only the changed files, because a change can cause findings in
other files. It is checked in a separate process, concurrently with the working tree.
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

from seamwise._results.containers import Failure, Result, Success
from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.checking import Report, run_check
from seamwise.check.comparison.git import Export, export_commit, find_commit
from seamwise.check.findings import Finding
from seamwise.check.settings import CheckSettings, project_python

SettingsLoader: TypeAlias = Callable[[Path], Result[CheckSettings, str]]
"""Loads the settings that apply to a folder."""

_FindingKey: TypeAlias = tuple[str, str, str, str]
"""Identity of a finding: code, path, message and source line, but not the line number."""


class BaselineRequest(Struct, frozen=True):
    """Task of the process that checks the commit."""

    paths: tuple[str, ...]
    settings: CheckSettings
    whole: bool


class Comparison(Struct, frozen=True):
    """Report with the new findings, and the problems in the commit."""

    report: Report
    problems: tuple[SourceProblem, ...]
    """Files of the commit that could not be analysed. All findings in them count as new."""


def new_findings(
    paths: Sequence[str],
    base: str,
    load_settings: SettingsLoader,
    *,
    whole: bool = False,
    no_cache: bool = False,
) -> Result[Comparison, str]:
    """Check files and folders, and leave out the findings that a commit already has.

    Args:
        paths: Files and folders in the repository of the current directory.
        base: Name of the commit.
        load_settings: Loads the settings of a folder, in the working tree and in the commit.
        whole: See `run_check`.
        no_cache: See `run_check`. The commit is always checked without a cache.

    Returns:
        The new findings, or a line with the reason why there is no comparison.
    """
    search = find_commit(base)
    if isinstance(search, Failure):
        return search
    commit = search.unwrap()
    for path in paths:
        if commit.repository_path(path) is None:
            return Failure(
                f'{path} is outside of the repository {commit.root}; '
                f'only files in it can be compared with {base!r}.'
            )
    settings = load_settings(Path.cwd())
    if isinstance(settings, Failure):
        return settings
    with export_commit(commit) as export:
        base_settings = _load_base_settings(export, load_settings)
        if isinstance(base_settings, Failure):
            message = base_settings.failure().replace(f'{export.folder}{os.sep}', '')
            return Failure(f'in {base}: {message}')
        # The commit is exported into a folder without the environment of the project.
        python = settings.unwrap().python_executable or project_python(Path.cwd()) or ''
        request = BaselineRequest(
            tuple(_base_paths(paths, export)),
            replace(base_settings.unwrap(), python_executable=python),
            whole,
        )
        with _start_base_check(request, export) as process:
            report = run_check(paths, settings.unwrap(), whole=whole, no_cache=no_cache)
            base_report = _wait_for_report(process)
        for problem in base_report.problems:
            if _is_fatal(problem, base_report):
                return Failure(f'{base} cannot be checked: {problem.message}')
        findings = tuple(_subtract_findings(report, base_report, export))
        return Success(Comparison(replace(report, findings=findings), base_report.problems))


def _load_base_settings(
    export: Export, load_settings: SettingsLoader
) -> Result[CheckSettings, str]:
    """Load the settings of the commit; settings outside the repository apply to both versions."""
    folder = export.current_directory
    while folder.is_relative_to(export.folder):
        if (folder / 'pyproject.toml').is_file():
            return load_settings(folder)
        folder = folder.parent
    return load_settings(export.commit.root.parent)


def _base_paths(paths: Sequence[str], export: Export) -> Iterator[str]:
    """Yield the paths that exist in the commit, and the old paths of files that moved into them."""
    start = export.commit.prefix or os.curdir
    names = [export.commit.repository_path(path) or os.curdir for path in paths]
    for name in names:
        if os.path.lexists(export.folder / name):
            yield os.path.relpath(name, start)
    for old, new in export.renames.items():
        if _is_below(new, names) and not _is_below(old, names):
            yield os.path.relpath(old, start)


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(folder == os.curdir or Path(path).is_relative_to(folder) for folder in folders)


@contextmanager
def _start_base_check(
    request: BaselineRequest, export: Export
) -> Generator[subprocess.Popen[bytes] | None]:
    """Start the check of the commit, and kill it at the end; None if there is nothing to check."""
    if not request.paths:
        yield None
        return
    file = export.folder.parent / 'request.json'
    # The json module keeps surrogates of file names that are not UTF-8; msgspec refuses them.
    file.write_text(json.dumps(msgspec.to_builtins(request)), encoding='utf-8')
    export.current_directory.mkdir(parents=True, exist_ok=True)
    # With -P, modules in the current directory, which is the commit's, cannot shadow ours.
    command = [sys.executable, '-P', '-m', 'seamwise.check.comparison.diff', str(file)]
    with subprocess.Popen(  # noqa: S603 -- no shell
        command,
        cwd=export.current_directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _wait_for_report(process: subprocess.Popen[bytes] | None) -> Report:
    if process is None:
        return Report((), (), 0, 0.0)
    output, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(
            f'the check of the commit exited with status {process.returncode}: '
            f'{errors.decode(errors="replace")}'
        )
    return msgspec.convert(json.loads(output), Report)


def _is_fatal(problem: SourceProblem, report: Report) -> bool:
    """Return whether a problem stopped the whole check, so that all findings would look new."""
    return problem.is_unread and (
        not problem.path or (not report.files and problem.message.startswith('mypy '))
    )


def _subtract_findings(report: Report, base_report: Report, export: Export) -> Iterator[Finding]:
    """Yield the findings that the commit does not have.

    If it has fewer with the same key, those on changed lines are the new ones.
    """
    base_counts: Counter[_FindingKey] = Counter()
    for finding in base_report.findings:
        path = export.repository_path(finding.path) or finding.path
        base_counts[_key(finding, export.renames.get(path, path))] += 1
    by_key: defaultdict[_FindingKey, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        path = export.commit.repository_path(finding.path) or finding.path
        by_key[_key(finding, path)].append(finding)
    new: set[Finding] = set()
    for key, findings in by_key.items():
        base_count = base_counts[key]
        if 0 < base_count < len(findings):
            changed_lines = export.changed_lines(key[1])
            findings.sort(key=lambda finding: _is_on(finding, changed_lines))
        new.update(findings[base_count:])
    yield from (finding for finding in report.findings if finding in new)


def _is_on(finding: Finding, lines: frozenset[int]) -> bool:
    return not lines.isdisjoint(range(finding.line, finding.last_line + 1))


def _key(finding: Finding, path: str) -> _FindingKey:
    return finding.code, path, finding.message, finding.source.strip()


def _main(request_file: str) -> None:
    request = msgspec.convert(
        json.loads(Path(request_file).read_text(encoding='utf-8')), BaselineRequest
    )
    with redirect_stdout(sys.stderr):
        # Plugins of mypy may print; standard output is for the report alone.
        report = run_check(request.paths, request.settings, whole=request.whole, no_cache=True)
    sys.stdout.write(json.dumps(msgspec.to_builtins(report)))


if __name__ == '__main__':
    _main(sys.argv[1])
