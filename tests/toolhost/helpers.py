"""Helpers that the tests of the tool host share."""

import gc
import os
import resource
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from typing_extensions import override

from seamwise import Failure, Result
from seamwise.catalog.tools import ToolError
from seamwise.policies import GuardError
from seamwise.testing import assert_failure, assert_success
from seamwise.toolhost import Tools
from seamwise.toolhost.builtin.time_limit import OutOfTime, TimeLimit
from seamwise.toolhost.guards.guarded_call import CallStats, GuardedRunner

NOBODY = 65534

CANARY = 'OUTSIDE-CANARY-5f1c\n'


# Short names: these tests check many paths and texts in one line.
value_of = assert_success
error_of = assert_failure


def run_tool(
    tools: Tools[ToolError],
    name: str,
    arguments: Mapping[str, object],
    *,
    runner: GuardedRunner | None = None,
    stats: CallStats | None = None,
) -> Result[object, ToolError | GuardError]:
    """Run a tool inside its guards, as a call would."""
    found = tools.find(name).bind(lambda tool: tool.bind(arguments))
    if type(found) is Failure:
        return found
    invocation = found.unwrap()
    return (runner or GuardedRunner()).run(
        name, lambda: invocation.check(invocation.run()), stats=stats or CallStats()
    )


class FakeLimit(TimeLimit):
    """A limit that ends after a number of checks."""

    def __init__(self, seconds: float | None = None, *, checks: int) -> None:
        super().__init__(seconds)
        self._checks = checks

    @override
    def check(self) -> None:
        if not self._checks:
            raise OutOfTime(self.seconds)
        self._checks -= 1


@contextmanager
def unprivileged() -> Generator[None, None, None]:
    """Drop the privileges of root, so that permissions apply."""
    saved = os.geteuid()
    if saved == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(saved)


def make_nested_folders(folder: Path, depth: int) -> None:
    """Create `depth` nested folders, each with the name `d`."""
    folder.joinpath(*['d'] * depth).mkdir(parents=True)


def open_handles() -> set[str]:
    """Return the open handles of this process after a garbage collection."""
    gc.collect()
    return {link.name for link in Path('/proc/self/fd').iterdir()}


@contextmanager
def limit_handles(count: int) -> Generator[None, None, None]:
    """Let the process open only `count` more files."""
    saved = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The free numbers are not one after the other if an earlier file was closed.
    free = [os.dup(0) for _ in range(count + 1)]
    for number in free:
        os.close(number)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[-1], saved[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, saved)


def tree(folder: Path) -> dict[str, bytes | str | None]:
    """Return the content below a folder by path.

    The value is the content of a file, the target of a symlink, or None for a folder.
    """
    content: dict[str, bytes | str | None] = {}
    for path in sorted(folder.rglob('*')):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            content[name] = str(path.readlink())
        else:
            content[name] = path.read_bytes() if path.is_file() else None
    return content
