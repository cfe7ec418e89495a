"""`[tool.seamwise.check]` in `pyproject.toml`: which rules are asked, and how grave each is."""

import os
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from seamwise import Failure, Result, Success
from seamwise.check.facts import FileFacts
from seamwise.check.findings import Severity


class CheckSettings(Struct, frozen=True, forbid_unknown_fields=True, rename='kebab'):
    """What is asked: the rules that are on, or those of `select`; those of `extend_select` besides; never those of `ignore`.

    `severity` overrules a rule's own.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    """Rules that are not asked about some files, by a pattern of their paths: `tests/*` takes in all that lies below."""
    severity: dict[str, Severity] = {}
    domain: tuple[str, ...] = ('domain', 'services')
    """The layers that know no seam, each by a part of the dotted names of its modules, or by several: `shop.core`."""
    cache_dir: str = '.seamwise_cache'
    """The folder that keeps what is known between two runs, from the current directory; `/dev/null` keeps nothing."""

    @property
    def cache(self) -> Path | None:
        """The folder of the cache, or None where nothing is to be kept."""
        return None if self.cache_dir == os.devnull else Path(self.cache_dir)

    def asks(self, code: str, *, is_on: bool = True) -> bool:
        """Whether a rule is asked; `is_on` says whether it is where nobody names it."""
        is_named = code in self.select or code in self.extend_select
        return (is_named or (is_on and not self.select)) and code not in self.ignore

    def excuses(self, path: str, code: str) -> bool:
        """Whether a rule is not asked about a file."""
        own = Path(path).as_posix()
        return any(
            code in codes and fnmatchcase(own, pattern)
            for pattern, codes in self.per_file_ignores.items()
        )

    def is_domain(self, file: FileFacts) -> bool:
        """Whether a file belongs to a layer that knows no seam."""
        return any(f'.{layer}.' in f'.{name}.' for layer in self.domain for name in _dotted(file))


def _dotted(file: FileFacts) -> Iterator[str]:
    """Give the dotted name; a folder without `__init__.py` is a package too, but mypy leaves it out of the name."""
    yield file.module
    path = Path(file.path)
    if '.' not in file.module and path.stem != '__init__':
        parts = path.with_suffix('').parts
        # What stands above the sources, or above the current directory, names no package.
        above = max(
            (
                number
                for number, one in enumerate(parts, 1)
                if one in {'src', os.pardir, path.anchor}
            ),
            default=0,
        )
        yield '.'.join(parts[above:])


class _Own(Struct, frozen=True):
    check: CheckSettings = CheckSettings()


class _Tools(Struct, frozen=True):
    seamwise: _Own = _Own()


class _File(Struct, frozen=True):
    tool: _Tools = _Tools()


def load_settings(folder: Path, codes: Iterable[str]) -> Result[CheckSettings, str]:
    """Read the nearest `pyproject.toml` at or above a folder; fails with a line that says what is wrong there.

    The environment's `SEAMWISE_CACHE_DIR` overrules the folder of the cache.
    """
    found = _written(folder, codes)
    own = os.environ.get('SEAMWISE_CACHE_DIR')
    return found.map(lambda one: replace(one, cache_dir=own)) if own else found


def _written(folder: Path, codes: Iterable[str]) -> Result[CheckSettings, str]:
    file = next(
        (
            one / 'pyproject.toml'
            for one in (folder, *folder.parents)
            if (one / 'pyproject.toml').is_file()
        ),
        None,
    )
    if file is None:
        return Success(CheckSettings())
    try:
        given = msgspec.convert(
            tomllib.loads(file.read_text(encoding='utf-8')), _File
        ).tool.seamwise.check
    except (OSError, ValueError) as wrong:
        return Failure(f'{file}: [tool.seamwise.check] cannot be read: {wrong}.')
    known = set(codes)
    excused = [code for codes in given.per_file_ignores.values() for code in codes]
    for code in (*given.select, *given.extend_select, *given.ignore, *excused, *given.severity):
        if code not in known:
            return Failure(
                f'{file}: [tool.seamwise.check] names {code!r}, but there are {", ".join(sorted(known))}.'
            )
    return Success(given)
