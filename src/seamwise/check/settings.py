"""Settings of a check: `[tool.seamwise.check]` in `pyproject.toml`, and the project's Python."""

import os
import sys
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from seamwise import Failure, Result, Success
from seamwise.check.facts import FileFacts, Severity

_ENVIRONMENTS = ('.venv', 'venv')


class CheckSettings(Struct, frozen=True, forbid_unknown_fields=True, rename='kebab'):
    """Selection of rules, their severities, and the folder of the cache."""

    select: tuple[str, ...] = ()
    """Rules to use instead of the default ones."""
    extend_select: tuple[str, ...] = ()
    """Rules to use in addition."""
    ignore: tuple[str, ...] = ()
    """Rules not to use, even if they are selected."""
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    """Rules to ignore by path pattern; `tests/*` includes the files in all subfolders.

    Patterns are relative to the folder of the configuration file.
    """
    severity: dict[str, Severity] = {}
    """Severities that replace those of the rules."""
    domain: tuple[str, ...] = ('domain', 'services')
    """Layers that must not depend on a seam, as parts of module names, such as `shop.core`."""
    cache_dir: str = '.seamwise_cache'
    """Folder of the cache, relative to the current directory; `/dev/null` disables the cache."""
    root: str = ''
    """Folder of the configuration file, to which its paths are relative."""
    python_executable: str = ''
    """Python of the environment with the imported packages; if empty, mypy decides."""

    @property
    def cache(self) -> Path | None:
        """Folder of the cache, or None if the cache is disabled."""
        return None if self.cache_dir == os.devnull else Path(self.cache_dir)

    def selects(self, code: str, *, is_default: bool = True) -> bool:
        """Return whether a rule is used.

        Args:
            code: The code of the rule.
            is_default: Whether the rule is used unless other rules are selected.
        """
        is_selected = code in self.select or code in self.extend_select
        return (is_selected or (is_default and not self.select)) and code not in self.ignore

    def ignores(self, path: str, code: str) -> bool:
        """Return whether `per_file_ignores` excludes a file from a rule."""
        posix_path = Path(os.path.relpath(path, self.root or os.curdir)).as_posix()
        return any(
            code in codes and fnmatchcase(posix_path, pattern)
            for pattern, codes in self.per_file_ignores.items()
        )

    def is_domain(self, file: FileFacts) -> bool:
        """Return whether a file belongs to a domain layer."""
        return any(
            f'.{layer}.' in f'.{name}.' for layer in self.domain for name in _module_names(file)
        )


def _module_names(file: FileFacts) -> Iterator[str]:
    """Yield the module name of a file, and one that includes folders without `__init__.py`.

    mypy omits such namespace packages from the name.
    """
    yield file.module
    path = Path(file.path)
    if '.' not in file.module and path.stem != '__init__':
        parts = path.with_suffix('').parts
        roots = {'src', os.pardir, path.anchor}
        # Folders above the sources, or outside the current directory, are not packages.
        start = max((index for index, part in enumerate(parts, 1) if part in roots), default=0)
        yield '.'.join(parts[start:])


class _SeamwiseTable(Struct, frozen=True):
    check: CheckSettings = CheckSettings()


class _ToolTable(Struct, frozen=True):
    seamwise: _SeamwiseTable = _SeamwiseTable()


class _Pyproject(Struct, frozen=True):
    tool: _ToolTable = _ToolTable()


def load_settings(folder: Path, codes: Iterable[str]) -> Result[CheckSettings, str]:
    """Read the settings from the nearest `pyproject.toml` at or above a folder.

    The environment variable `SEAMWISE_CACHE_DIR` overrides `cache-dir`.

    Args:
        folder: The folder to start from.
        codes: The codes of all rules.

    Returns:
        The settings, or a one-line error message.
    """
    settings = _read_settings(folder, codes)
    cache_dir = os.environ.get('SEAMWISE_CACHE_DIR')
    if not cache_dir:
        return settings
    return settings.map(lambda loaded: replace(loaded, cache_dir=cache_dir))


def _read_settings(folder: Path, codes: Iterable[str]) -> Result[CheckSettings, str]:
    candidates = (parent / 'pyproject.toml' for parent in (folder, *folder.parents))
    file = next((path for path in candidates if path.is_file()), None)
    if file is None:
        return Success(CheckSettings())
    try:
        document = tomllib.loads(file.read_text(encoding='utf-8'))
        settings = msgspec.convert(document, _Pyproject).tool.seamwise.check
    except (OSError, ValueError) as error:
        return Failure(f'{file}: [tool.seamwise.check] cannot be read: {error}.')
    if settings.root:
        return Failure(f'{file}: [tool.seamwise.check] cannot be read: unknown field `root`.')
    known = set(codes)
    ignored = [code for file_codes in settings.per_file_ignores.values() for code in file_codes]
    for code in (
        *settings.select,
        *settings.extend_select,
        *settings.ignore,
        *ignored,
        *settings.severity,
    ):
        if code not in known:
            return Failure(
                f'{file}: [tool.seamwise.check] names {code!r}, but there are '
                f'{", ".join(sorted(known))}.'
            )
    python = settings.python_executable
    return Success(
        replace(
            settings,
            root=str(file.parent),
            python_executable=str(file.parent / python) if python else '',
        )
    )


def project_python(folder: Path) -> str | None:
    """Return the Python of the environment of a project; None if it runs this program.

    It is the activated environment (`VIRTUAL_ENV`), or else the one in the folder `.venv` or `venv`
    next to the code. A program that pipx or uvx has installed runs in an environment of its own,
    without the packages of the project.
    """
    activated = os.environ.get('VIRTUAL_ENV')
    candidates = [Path(activated)] if activated else [folder / name for name in _ENVIRONMENTS]
    for environment in candidates:
        python = _python_in(environment)
        if python is not None:
            is_own = environment.resolve() == Path(sys.prefix).resolve()
            return None if is_own else str(python)
    return None


def _python_in(environment: Path) -> Path | None:
    if not (environment / 'pyvenv.cfg').is_file():
        return None
    executable = 'Scripts/python.exe' if sys.platform == 'win32' else 'bin/python'
    python = environment / executable
    return python if python.exists() else None
