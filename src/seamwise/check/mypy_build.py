"""One build of mypy, again and again without what mypy ends at."""

import gc
import io
import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import msgspec
from msgspec import Struct
from mypy import build
from mypy.errors import CompileError
from mypy.find_sources import InvalidSourceList, SourceFinder
from mypy.fscache import FileSystemCache
from mypy.options import Options

from seamwise.check.mypy_sources import (
    SourceGroup,
    SourceProblem,
    copy_options,
    leave_out_unreadable,
)

if sys.platform != 'win32':
    import resource

STACK = 512 * 1024 * 1024
"""Bytes of stack, taken only where they are needed: the parser of mypy follows deep expressions by calling itself."""

CRASH = re.compile(
    r'^(?P<path>.+?):(?:(?P<line>\d+):)? error: (?:INTERNAL ERROR|Cannot parse file)'
)


class _Said(Struct, frozen=True):
    """A message of mypy."""

    file: str
    line: int
    message: str
    code: str | None = None
    severity: str = 'error'


def run_mypy(
    group: SourceGroup,
    problems: list[SourceProblem],
    prepare: Callable[[Options], None] | None = None,
) -> build.BuildResult | None:
    """Build, and leave out of the group what mypy ends at; None where that is everything.

    `prepare` changes the options of the build, as for a cache.
    """
    left_out: set[str] = set()
    while group.sources:
        said_aloud = io.StringIO()
        options = copy_options(group.options)
        if prepare is not None:
            prepare(options)
        try:
            with redirect_stdout(said_aloud), redirect_stderr(said_aloud), _deep_stack():
                return _build(group, options)
        except SystemExit:
            # So it ends where it has a bug.
            module = _crashed(said_aloud.getvalue(), group.options, problems)
        except CompileError as ended:
            if leave_out_unreadable(group, problems):
                continue
            module = _ended(ended.module_with_blocker, ended.messages, group, problems)
        if module is None or module in left_out:
            return None
        left_out.add(module)
        group.leave_out(module)
    return None


def _build(group: SourceGroup, options: Options) -> build.BuildResult:
    # mypy lets garbage wait for the rest of the process, which may be longer than one check.
    thresholds = gc.get_threshold()
    try:
        return build.build(list(group.sources), options)
    finally:
        gc.set_threshold(*thresholds)


def missing_imports(messages: Iterable[str]) -> Iterator[SourceProblem]:
    """Give the imports that mypy has not found: where they are used there are no types."""
    for one in _said(messages):
        if one.code in {'import-not-found', 'import-untyped'} and one.severity == 'error':
            message = f'{one.message.rstrip(".")}: what comes from there has no type, and no rule sees it.'
            yield SourceProblem(one.file, message, line=one.line, is_unread=False)


@contextmanager
def gc_disabled() -> Generator[None]:
    """Let the garbage be: trees and types live to the end, and looking for cycles in them takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _deep_stack() -> Generator[None]:
    if sys.platform == 'win32':
        # There a program's stack is what it was linked with.
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


def _ended(
    module: str | None, messages: list[str], group: SourceGroup, problems: list[SourceProblem]
) -> str | None:
    """Tell where mypy ends, and give the module."""
    if module is None:
        return _crashed('\n'.join(messages), group.options, problems)
    said = _reason(
        messages, next((one.path for one in group.sources if one.module == module), None)
    )
    problems.append(
        SourceProblem(said.file, f'mypy ends here: {said.message}', line=max(said.line, 0))
    )
    return module


def _crashed(said: str, options: Options, problems: list[SourceProblem]) -> str | None:
    """Tell what mypy says last of itself, and give the module that it was reading; None where nobody can say."""
    lines = said.splitlines()
    found = next((one for line in reversed(lines) if (one := CRASH.match(line)) is not None), None)
    if found is None:
        messages = [one.message for one in _said(lines) if one.severity == 'error'] or [
            line for line in lines if line
        ]
        problems.append(
            SourceProblem(
                '', f'mypy fails by itself: {next(reversed(messages), "it does not say why")}'
            )
        )
        return None
    problems.append(
        SourceProblem(
            found['path'],
            'mypy fails by itself here, by a bug of its own or of a plugin.',
            line=int(found['line'] or 0),
        )
    )
    try:
        return SourceFinder(FileSystemCache(), options).crawl_up(found['path'])[0]
    except InvalidSourceList:
        return None


def _reason(messages: list[str], path: str | None) -> _Said:
    """Give what mypy says last of the file that it ends at: what it has said before did not stop it."""
    said = _said(messages)
    of_file = [one for one in said if one.file == path and one.severity == 'error']
    return next(reversed(of_file or said), None) or _Said('', 0, ' '.join(messages))


def _said(messages: Iterable[str]) -> list[_Said]:
    said: list[_Said] = []
    for message in messages:
        try:
            said.append(msgspec.json.decode(message, type=_Said))
        except msgspec.DecodeError:
            # What mypy says of no file comes as plain text.
            continue
    return said
