"""`seamwise catalog`: all errors of the catalogue in one document."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import click

from seamwise._text.jsonable import to_json
from seamwise.documents.openapi import build_openapi
from seamwise.documents.page import render_html
from seamwise.documents.text import render_entry
from seamwise.documents.typescript import render_typescript
from seamwise.documents.unions import UNION_OF
from seamwise.program.catalog_entries import catalog_entries
from seamwise.program.console import (
    Choice,
    CommandExit,
    print_data,
    print_text,
    report_exit,
)

HELP = """\
Show all errors: their meaning, an example, what each audience sees, and what to do.

The calls of the examples run while the document is generated, in temporary workspaces.

\b
Formats:
  text        for a terminal
  json        all details, for programs
  html        one self-contained page with a search; #FileNotFound leads to that error
  typescript  types for the errors of the HTTP envelope, one union per union of the catalogue
  openapi     the HTTP responses, as an OpenAPI 3.1 document

\b
Example:
  seamwise catalog --format html > errors.html

\b
Exit codes:
    0  the document was written
    2  the command was used incorrectly
   70  a defect: the log has details
   74  standard output, or the workspace of an example, cannot be written
   78  a package is missing
  141  the reader of the output has ended ("| head -1")
"""


def _print_text() -> None:
    print_text('\n\n\n'.join(map(render_entry, catalog_entries(UNION_OF))))


_FORMATS: Mapping[str, Callable[[], None]] = MappingProxyType(
    {
        'text': _print_text,
        'json': lambda: print_data(to_json(catalog_entries(UNION_OF))),
        'html': lambda: print_data(render_html(catalog_entries(UNION_OF))),
        'typescript': lambda: print_data(render_typescript()),
        'openapi': lambda: print_data(to_json(build_openapi())),
    }
)


@click.command(help=HELP, short_help='Show all errors, for a terminal, a browser or a program.')
@click.option(
    '--format',
    'form',
    default='text',
    show_default=True,
    type=Choice(tuple(_FORMATS)),
    help='Format of the document.',
)
@click.option('--json', 'form', flag_value='json', help='Same as --format json.')
@click.pass_context
def catalog(context: click.Context, /, form: str) -> None:
    """Run the subcommand, and exit with its code."""
    try:
        _FORMATS[form]()
    except CommandExit as error:
        context.exit(report_exit(error))
