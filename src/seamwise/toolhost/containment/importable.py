"""Functions that another process can import by name."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from runpy import run_module, run_path
from types import MethodType, ModuleType
from typing import Any, Final

from msgspec import Struct

MAIN: Final = '__main__'

WORKER_MAIN: Final = '__mp_main__'
"""The `__name__` of the program in a worker, as in `multiprocessing`: not its main module."""


class ImportName(Struct, frozen=True):
    """The place where a process finds a function.

    Attributes:
        module: The name of its module; for the main module of a program that of its package.
        qualname: The name of the function in the module.
        path: The file of a main module without a name.
    """

    module: str
    qualname: str
    path: str = ''


def import_name(function: Callable[..., object]) -> ImportName:
    """Return the place where another process finds a function.

    >>> from textwrap import dedent
    >>> import_name(dedent)
    ImportName(module='textwrap', qualname='dedent', path='')

    Raises:
        TypeError: Another process cannot import the function.
    """
    name, module = function.__qualname__, function.__module__
    if isinstance(function, MethodType) and not isinstance(function.__self__, type):
        raise _refusal(name, 'it is a method of an object, which the process does not have')
    if '<lambda>' in name:
        raise _refusal(name, 'a lambda has no name')
    if '<locals>' in name:
        raise _refusal(name, 'it is defined in a function')
    if module not in {MAIN, WORKER_MAIN}:
        loaded = sys.modules.get(module)
        # A module that was made at run time has no file and no loader.
        if loaded is None or loaded.__spec__ is None:
            raise _refusal(name, f'its module {module!r} cannot be imported')
        return ImportName(module, name)
    main = sys.modules[module]
    if main.__spec__ is not None:
        return ImportName(main.__spec__.name, name, path=MAIN)
    path = getattr(main, '__file__', None)
    if path is None or not Path(path).is_file():
        raise _refusal(name, 'it is defined in an interactive session')
    return ImportName(MAIN, name, str(Path(path).resolve()))


def import_object(name: ImportName) -> object:
    """Import the object with a name, in a process that has not imported it yet."""
    value: Any = _import(name)
    for part in name.qualname.split('.'):
        value = getattr(value, part)
    return value


def _import(name: ImportName) -> ModuleType:
    if not name.path:
        return import_module(name.module)
    # As in `multiprocessing`, the block `if __name__ == '__main__':` does not run.
    main = ModuleType(WORKER_MAIN)
    vars(main).update(
        run_module(name.module, run_name=WORKER_MAIN, alter_sys=True)
        if name.path == MAIN
        else run_path(name.path, run_name=WORKER_MAIN)
    )
    # Values of the parent refer to its classes by the name `__main__`.
    sys.modules[MAIN] = sys.modules[WORKER_MAIN] = main
    return main


def _refusal(name: str, reason: str) -> TypeError:
    return TypeError(
        f'{name} cannot run in a process of its own: {reason}. Define it with `def` at the top of '
        'a file that can be imported.'
    )
