"""Versions of mypy that the check can use."""

from typing import Final

from mypy.version import __version__

MYPY_VERSION: Final = __version__
OLDEST: Final = (1, 18)
"""Oldest minor version whose interfaces are known."""
NEWEST: Final = (2, 5)
"""Newest one."""

_NATIVE_PARSER_SINCE: Final = (2, 2)


class UnsupportedMypyError(ImportError):
    """The installed mypy is too old or too new for the check."""


def check_version(version: str = MYPY_VERSION) -> None:
    """Refuse a version of mypy whose interfaces are unknown.

    Raises:
        UnsupportedMypyError: The version is too old or too new.
    """
    if OLDEST <= _minor(version) <= NEWEST:
        return
    oldest, newest = ('.'.join(map(str, minor)) for minor in (OLDEST, NEWEST))
    raise UnsupportedMypyError(
        f'`seamwise check` supports mypy {oldest} to {newest}, not {version}.'
        " Install one of them, e.g. with: pip install 'seamwise[check]'",
        name='mypy',
    )


def _minor(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version, such as `2.5.0+dev`."""
    return tuple(int(part) for part in version.split('.')[:2])


HAS_NATIVE_PARSER: Final = _minor(MYPY_VERSION) >= _NATIVE_PARSER_SINCE
"""Whether mypy's native parser is used. Before 2.2, it only parses files, not texts."""
