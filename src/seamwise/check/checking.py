"""`check(paths)`: every rule over every module."""

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from msgspec import Struct

try:
    from seamwise.check.allowances import judged
    from seamwise.check.analysis import Problem, analyse
    from seamwise.check.findings import Finding, placed
    from seamwise.check.program import Module, Program
    from seamwise.check.rules.registry import RULES
    from seamwise.check.settings import Settings
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("`seamwise check` needs mypy: pip install 'seamwise[check]'", name=missing.name) from missing

__all__ = ['Report', 'check']


class Report(Struct, frozen=True):
    """What was found, in the order of files and lines, and what could not be read."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    files: int
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether all that was asked for has been read."""
        return not any(one.is_unread for one in self.problems)


def check(paths: Sequence[str], settings: Settings | None = None) -> Report:
    """Ask the rules about files and folders; paths in the report are relative to the current directory.

    What cannot be read is in `problems`, and the rest is checked all the same.
    """
    began = perf_counter()
    asked = settings or Settings()
    with _without_collecting():
        analysis = analyse(paths)
        found = [one for module in analysis.program.modules for one in _findings(module, analysis.program, asked)]
    found.sort(key=lambda one: (one.path, one.line, one.column, one.code))
    return Report(tuple(found), analysis.problems, len(analysis.program.modules), perf_counter() - began)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Let the garbage be: trees and types live to the end, and looking for cycles in them takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _findings(module: Module, program: Program, settings: Settings) -> Iterator[Finding]:
    path = _relative(module.path)
    found = {
        placed(spot, module, path=path, code=rule.code, severity=settings.severity.get(rule.code) or rule.severity)
        for rule in RULES.values()
        if settings.asks(rule.code)
        for spot in rule.find(module, program)
    }
    yield from judged(sorted(found, key=lambda one: (one.line, one.column, one.code)), module)


def _relative(path: Path) -> str:
    try:
        return os.path.relpath(path)
    except ValueError:
        # On another drive there is no way from here.
        return str(path)
