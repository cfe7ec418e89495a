"""`[tool.seamwise.check]` in `pyproject.toml`: which rules are asked, and how grave each is."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from seamwise import Failure, Result, Success
from seamwise.check.findings import Severity


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked: all rules, or those of `select`, without those of `ignore`; `severity` overrules a rule's own."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: dict[str, Severity] = {}

    def asks(self, code: str) -> bool:
        """Whether a rule is asked."""
        return (not self.select or code in self.select) and code not in self.ignore


class _Own(Struct, frozen=True):
    check: Settings = Settings()


class _Tools(Struct, frozen=True):
    seamwise: _Own = _Own()


class _File(Struct, frozen=True):
    tool: _Tools = _Tools()


def settings(folder: Path, codes: Iterable[str]) -> Result[Settings, str]:
    """Read the nearest `pyproject.toml` at or above a folder; fails with a line that says what is wrong there."""
    file = next((one / 'pyproject.toml' for one in (folder, *folder.parents) if (one / 'pyproject.toml').is_file()), None)
    if file is None:
        return Success(Settings())
    try:
        given = msgspec.convert(tomllib.loads(file.read_text(encoding='utf-8')), _File).tool.seamwise.check
    except (OSError, ValueError) as wrong:
        return Failure(f'{file}: [tool.seamwise.check] cannot be read: {wrong}.')
    known = set(codes)
    for code in (*given.select, *given.ignore, *given.severity):
        if code not in known:
            return Failure(f'{file}: [tool.seamwise.check] names {code!r}, but there are {", ".join(sorted(known))}.')
    return Success(given)
