"""The options `--module` and `--table`: import of a program's errors and tables."""

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pkgutil import walk_packages
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import click

from seamwise._defects.exception_kinds import describe_exception
from seamwise.program.console import CommandExit, Exit, did_you_mean

if TYPE_CHECKING:
    from seamwise.documents.error_catalog import ErrorCatalog
    from seamwise.documents.tables import Table

C = TypeVar('C', bound=Callable[..., object])


def module_options(command: C) -> C:
    """Add the options `--module` and `--table`, each of which can be repeated."""
    for option in (
        click.option(
            '--table',
            'tables',
            metavar='MODULE:NAME',
            multiple=True,
            help='A table of your program, of any seam. Can be repeated.',
        ),
        click.option(
            '--module',
            'modules',
            metavar='MODULE',
            multiple=True,
            help='A module of your program with errors, or a package. Can be repeated.',
        ),
    ):
        command = option(command)
    return command


def load_catalog(modules: Sequence[str], tables: Sequence[str]) -> 'ErrorCatalog':
    """Import modules and tables, and return their errors.

    Raises:
        CommandExit: A module cannot be imported or has no errors, or a table is none.
    """
    from seamwise.documents.user_catalog import user_catalog  # noqa: PLC0415 -- not for `map`

    add_current_directory()
    own_modules = [_import(name) for name in modules]
    own_tables = [table for name in tables for table in _load_table(name)]
    catalog = user_catalog(own_modules, own_tables)
    if not catalog.kinds:
        names = ', '.join(repr(name) for name in modules or tables)
        raise CommandExit(
            f'there are no errors in {names}. An error is a class such as '
            '"class OrderNotFound(TaggedError, category=…)" at the top level of a module.',
            Exit.BAD_DATA,
        )
    return catalog


def add_current_directory() -> None:
    """Make modules of the current directory importable, as `python -m` does."""
    # PYTHONSAFEPATH and -P forbid it for `python -m` too.
    if not sys.flags.safe_path and not {'', os.getcwd()} & set(sys.path):  # noqa: PTH109
        sys.path.insert(0, os.getcwd())  # noqa: PTH109


def _import(name: str) -> ModuleType:
    """Import a module, and all submodules of a package."""
    module = _import_one(name)
    for submodule in _submodules(module):
        _import_one(submodule)
    return module


def _submodules(module: ModuleType) -> Iterator[str]:
    """Yield the names of all submodules, except those that start a program."""
    path: Sequence[str] | None = getattr(module, '__path__', None)
    if path is None:
        return
    for info in walk_packages(path, f'{module.__name__}.'):
        if info.name.rpartition('.')[2] != '__main__':
            yield info.name


def _import_one(name: str) -> ModuleType:
    try:
        # What a module prints must not get into the document.
        with redirect_stdout(sys.stderr):
            return import_module(name)
    except ModuleNotFoundError as error:
        raise _not_found(name, error) from error
    # The module runs code of the user, which can raise anything or call `sys.exit`.
    except (Exception, SystemExit) as error:
        raise CommandExit(
            f'cannot import {name!r}: {describe_exception(error)}{_place(error)}', Exit.BAD_DATA
        ) from error


def _not_found(name: str, error: ModuleNotFoundError) -> CommandExit:
    """Return the fatal error for a module that does not exist, or that imports such a module."""
    missing = error.name or ''
    if f'{name}.'.startswith(f'{missing}.'):
        path = name.removesuffix('.py').replace('/', '.')
        hint = f' Did you mean {path}?' if path != name else ''
        return CommandExit(
            f'there is no module {name!r} in this directory or environment.{hint}', Exit.NO_INPUT
        )
    return CommandExit(
        f'cannot import {name!r}: it imports {missing!r}, which is not installed in this '
        f'environment{_place(error)}',
        Exit.MISCONFIGURED,
    )


def _place(error: BaseException) -> str:
    """Return the last line of the user's code in the traceback of an exception."""
    if isinstance(error, SyntaxError):
        # Its text already names the file and the line.
        return ''
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith('<') and frame.filename not in {__file__, _IMPORTLIB}
    ]
    return f' ({os.path.relpath(frames[-1].filename)}:{frames[-1].lineno})' if frames else ''


_IMPORTLIB = import_module.__code__.co_filename


def _load_table(name: str) -> 'tuple[Table, ...]':
    from seamwise.documents.tables import read_tables  # noqa: PLC0415 -- not for `map`

    module_name, separator, attribute = name.partition(':')
    if not (module_name and separator and attribute):
        raise click.BadParameter(
            f'{name!r} names no table. Write the module, a colon and the name, for example '
            'shop.http:TABLE.',
            param_hint="'--table'",
        )
    module = _import_one(module_name)
    value: object = module
    for part in attribute.split('.'):
        if not hasattr(value, part):
            names = [key for key in vars(module) if not key.startswith('_')]
            raise click.BadParameter(
                f'the module {module_name!r} has no name {attribute!r}.'
                f'{did_you_mean(attribute, names)}',
                param_hint="'--table'",
            )
        value = getattr(value, part)
    try:
        return read_tables(name, value)
    except TypeError as error:
        raise click.BadParameter(str(error), param_hint="'--table'") from error


def find_source(name: str) -> str:
    """Return the file of a module, or the folder of a package, without importing it.

    Raises:
        CommandExit: There is no such module, or it has no source.
    """
    add_current_directory()
    spec: ModuleSpec | None = None
    parts = name.split('.')
    for end in range(1, len(parts) + 1):
        part = '.'.join(parts[:end])
        # For a name with dots, `find_spec` would import the package.
        spec = (
            PathFinder.find_spec(part, spec.submodule_search_locations) if spec else find_spec(part)
        )
        if spec is None or (end < len(parts) and not spec.submodule_search_locations):
            raise _not_found(name, ModuleNotFoundError(name=name))
    if spec and spec.submodule_search_locations:
        return os.path.relpath(next(iter(spec.submodule_search_locations)))
    if spec is None or spec.origin is None or not spec.has_location:
        raise CommandExit(f'the module {name!r} has no source file.', Exit.NO_INPUT)
    return os.path.relpath(spec.origin)
