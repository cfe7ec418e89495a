"""`seamwise scaffold`: source code of a new error class, with its arm at each seam."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from seamwise._errors.categories import Category
from seamwise.documents.scaffold.defaults import guess_category
from seamwise.documents.scaffold.fields import ScaffoldError, parse_field
from seamwise.documents.scaffold.insertion import NameTaken, insert
from seamwise.documents.scaffold.source import (
    SEAM_NAMES,
    NewError,
    check_name,
    duplicates,
    module_source,
    verify,
)
from seamwise.program.console import (
    Choice,
    CommandExit,
    Exit,
    Subcommand,
    os_error_exit,
    print_data,
    print_text,
)

HELP = """\
Write an error class, and its arm at each seam.

NAME says what happened: OrderNotFound, not OrderError. The status, the exit code and the other
answers follow from the category; without --category, the name suggests one. The source goes to
standard output, or with --write to the end of a file. It is formatted as Black and Ruff do by
default, and passes mypy --strict.

A field is NAME:TYPE, for example uid:int, "note:str | None", token:Secret[str] or
"tags:tuple[str, ...]".

\b
Examples:
  seamwise scaffold error OrderNotFound --field uid:int
  seamwise scaffold error PaymentDeclined --category conflict --seam http
  seamwise scaffold error OrderNotFound --field uid:int --write shop/errors.py

\b
Exit codes:
    0  the source was written
    2  the name or a field cannot be used, or the command was used incorrectly
   65  the file is not valid Python
   73  the file already has one of the names, or cannot be created
   74  standard output cannot be written
"""


@click.command('scaffold', cls=Subcommand, help=HELP)
@click.argument('kind', metavar='error', type=Choice(('error',)))
@click.argument('name')
@click.option(
    '--category',
    metavar='CATEGORY',
    type=Choice(tuple(category.value for category in Category)),
    help='Category of the error, such as not_found.  [default: by the name]',
)
@click.option('--field', 'fields', metavar='NAME:TYPE', multiple=True, help='Can be repeated.')
@click.option('--message', help='Template over the fields.  [default: the name in words]')
@click.option(
    '--seam',
    'seams',
    type=Choice(SEAM_NAMES),
    multiple=True,
    help='A seam with an arm. Can be repeated.  [default: all]',
)
@click.option('--write', 'file', metavar='FILE', help='Add the class to the end of a file.')
@click.pass_context
def command(  # noqa: PLR0913 -- one parameter per option
    context: click.Context,
    /,
    kind: str,  # noqa: ARG001 -- the only kind yet
    name: str,
    *,
    category: str | None,
    fields: Sequence[str],
    message: str | None,
    seams: Sequence[str],
    file: str | None,
) -> None:
    """Run the subcommand, and exit with its code."""
    try:
        check_name(name)
        error = NewError(
            name=name,
            category=Category(category) if category else guess_category(name),
            fields=tuple(map(parse_field, fields)),
            message=message,
            seams=tuple(dict.fromkeys(seams)) or SEAM_NAMES,
        )
        if names := duplicates(field.name for field in error.fields):
            raise ScaffoldError(f'the field {names[0]!r} is given twice.')
        verify(error)
    except ScaffoldError as mistake:
        raise click.UsageError(str(mistake), context) from mistake
    if file is None:
        print_data(module_source(error))
    else:
        _write(error, file)
        print_text(f'Added {name} to {file}.')


def _write(error: NewError, file: str) -> None:
    """Add a class to the end of a file, or create the file; a kill leaves the old file.

    Raises:
        CommandExit: The file cannot be written, or is not changed because of its content.
    """
    # Imported here, because printing the source does not need the atomic writes of the tools.
    from seamwise.toolhost.builtin.workspace.atomic_write import create_file, replace_file  # noqa: PLC0415
    from seamwise.toolhost.builtin.workspace.ignore_rules import NO_RULES  # noqa: PLC0415
    from seamwise.toolhost.builtin.workspace.location import ResolvedPath  # noqa: PLC0415
    from seamwise.toolhost.builtin.workspace.workspace import Workspace  # noqa: PLC0415

    # A symlink stays one: the file behind it is changed.
    path = Path(os.path.realpath(file))
    try:
        folder = Workspace(path.parent)
        if path.exists():
            replace_file(folder, (path.name,), insert(path.read_bytes(), error))
        else:
            source = module_source(error).encode()
            create_file(folder, ResolvedPath((path.name,), 0, 0, NO_RULES), source)
    except OSError as cause:
        raise os_error_exit(f'write to {file!r}', cause, Exit.CANNOT_CREATE) from cause
    except NameTaken as taken:
        raise CommandExit(f'cannot write to {file!r}: {taken}', Exit.CANNOT_CREATE) from taken
    except ScaffoldError as mistake:
        raise CommandExit(f'cannot write to {file!r}: {mistake}', Exit.BAD_DATA) from mistake
