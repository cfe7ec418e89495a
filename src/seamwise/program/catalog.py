"""`seamwise catalog`: all errors of this library, or of a program, in one document."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from seamwise._text.jsonable import to_json
from seamwise.program.catalog_entries import catalog_entries
from seamwise.program.console import (
    Choice,
    CommandExit,
    Exit,
    Subcommand,
    print_data,
    print_text,
)
from seamwise.program.module_option import load_catalog, module_options

if TYPE_CHECKING:
    from seamwise.documents.error_catalog import ErrorCatalog

# Functions import the formats and the catalogue of this library, which take long to import.

HELP = """\
Show all errors: their meaning, an example, what each audience sees, and what to do.

Without options, these are the errors of this library. The calls of their examples run while the
document is generated, in temporary workspaces.

With --module, these are the errors of your program: the modules are imported, and each example is
made from the types of the fields. Add --module seamwise.catalog and --module seamwise.policies for
those of this library. --table adds the answers of your tables; without --module, the errors that
they cover are shown.

\b
Formats:
  text        for a terminal
  json        all details, for programs
  html        one page with a search; #FileNotFound leads to that error
  typescript  types for the errors of the HTTP envelope, with their unions
  openapi     the HTTP responses, as an OpenAPI 3.1 document

typescript and openapi describe answers of HTTP: they need a table of that seam.

\b
Example:
  seamwise catalog --format html > errors.html
  seamwise catalog --table shop.http:TABLE --format typescript > errors.ts

\b
Exit codes:
    0  the document was written
    2  the command was used incorrectly, or --table names no table
   65  a module cannot be imported or has no errors
   66  a module does not exist
   70  a defect: the log has details
   74  standard output, or the workspace of an example, cannot be written
   78  a package is missing, also one that a module of your program imports
  141  the reader of the output has ended ("| head -1")
"""


def _text(catalog: 'ErrorCatalog') -> str:
    from seamwise.documents.text import render_entry  # noqa: PLC0415

    return '\n\n\n'.join(map(render_entry, catalog_entries(catalog.kinds, catalog)))


def _json(catalog: 'ErrorCatalog') -> bytes:
    return to_json(catalog_entries(catalog.kinds, catalog))


def _html(catalog: 'ErrorCatalog') -> str:
    from seamwise.documents.page import render_html  # noqa: PLC0415

    return render_html(catalog_entries(catalog.kinds, catalog), catalog.title)


def _typescript(catalog: 'ErrorCatalog') -> str:
    from seamwise.documents.typescript import render_typescript  # noqa: PLC0415

    return render_typescript(catalog)


def _openapi(catalog: 'ErrorCatalog') -> bytes:
    from seamwise.documents.openapi import build_openapi  # noqa: PLC0415

    return to_json(build_openapi(catalog))


_FORMATS: Mapping[str, Callable[['ErrorCatalog'], str | bytes]] = MappingProxyType(
    {'text': _text, 'json': _json, 'html': _html, 'typescript': _typescript, 'openapi': _openapi}
)


@click.command('catalog', cls=Subcommand, help=HELP)
@click.option(
    '--format',
    'form',
    default='text',
    show_default=True,
    type=Choice(tuple(_FORMATS)),
    help='Format of the document.',
)
@click.option('--json', 'form', flag_value='json', help='Same as --format json.')
@module_options
def command(form: str, *, modules: Sequence[str], tables: Sequence[str]) -> None:
    """Run the subcommand, and exit with its code."""
    errors = _load(modules, tables)
    if form in {'typescript', 'openapi'} and not errors.adapters_of('http'):
        raise CommandExit(
            f'--format {form} describes the answers of HTTP: add the table of your errors, '
            'for example --table shop.http:TABLE.',
            Exit.USAGE,
        )
    document = _FORMATS[form](errors)
    if form == 'text' and isinstance(document, str):
        print_text(document)
    else:
        print_data(document)


def _load(modules: Sequence[str], tables: Sequence[str]) -> 'ErrorCatalog':
    if modules or tables:
        return load_catalog(modules, tables)
    from seamwise.documents.library import library_catalog  # noqa: PLC0415

    return library_catalog()
