"""The mypy plugin: `plugins = seamwise.check.plugin` in the configuration of mypy.

It makes the types of `catch` and of joined adapters exact for unions of any size. It also reports
message templates that do not fit their class, error classes with two arms or without one, and
indirect assignments to frozen fields. The library has correct types without it.
"""

from hashlib import sha256
from pathlib import Path
from typing import Final

try:
    from seamwise.check._mypy import plugin as features
    from seamwise.check._mypy.plugin.hooks import SeamwisePlugin, version_error
except ModuleNotFoundError as error:
    if error.name != 'mypy':
        raise
    raise ImportError("seamwise.check needs mypy: pip install 'seamwise[check]'") from error

from seamwise._errors import messages
from seamwise._text import phrases

__all__ = ['SUPPORTED', 'SeamwisePlugin', 'plugin']

SUPPORTED: Final = ((2, 3), (2, 4))
"""Tested minor versions of mypy: the two newest that `returns` allows."""


def plugin(version: str) -> type[SeamwisePlugin]:
    """Return the plugin class; the entry point that mypy calls with its own version.

    Raises:
        CompileError: The version is not in `SUPPORTED`. mypy prints the message and exits with 2.
    """
    if tuple(int(part) for part in version.split('.')[:2]) not in SUPPORTED:
        supported = ' and '.join('.'.join(map(str, minor)) for minor in SUPPORTED)
        message = (
            f'error: seamwise.check.plugin supports mypy {supported}, not {version}; '
            'install one of them or remove the plugin'
        )
        raise version_error(message)
    return SeamwisePlugin


def __getattr__(name: str) -> str:
    # mypy, and its daemon, read `__version__` on each run and discard the cache if it has changed.
    if name != '__version__':
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    folder = Path(features.__file__).parent
    files = [*sorted(folder.glob('*.py')), Path(messages.__file__), Path(phrases.__file__)]
    return sha256(b''.join(file.read_bytes() for file in files)).hexdigest()
