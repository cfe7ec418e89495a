"""`seamwise catalog`: every error of the catalogue in one document."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import click

from seamwise._text.jsonable import to_json
from seamwise.documents.openapi import as_openapi
from seamwise.documents.page import as_html
from seamwise.documents.text import as_text
from seamwise.documents.typescript import as_typescript
from seamwise.documents.unions import UNION_OF
from seamwise.program.catalog_entries import entries
from seamwise.program.choices import Choice
from seamwise.program.exit_errors import CommandExit, report_exit
from seamwise.program.printing import print_data, print_text

HELP = """\
Show every error: what it means, a call that really gives it, what each audience is told of it, and what to do.

The calls are run while the document is made, in workspaces of their own.

\b
Formats:
  text        for a terminal
  json        all of it, for programs
  html        one page that needs nothing else: it can be searched, and #FileNotFound leads to that error
  typescript  the errors of the HTTP envelope, a union for each of the catalogue
  openapi     the answers of HTTP, a document of OpenAPI 3.1

\b
Example:
  seamwise catalog --format html > errors.html

\b
Exit codes:
    0  it was shown
    2  the command was used wrongly
   70  a defect: the log says more
   74  standard output cannot be written, or the workspaces for the examples
   78  a package is missing that the command needs
  141  the output has no reader any more ("| head -1")
"""


def _text() -> None:
    print_text('\n\n\n'.join(as_text(one) for one in entries(UNION_OF)))


def _json() -> None:
    print_data(to_json(entries(UNION_OF)))


def _html() -> None:
    print_data(as_html(entries(UNION_OF)))


def _typescript() -> None:
    print_data(as_typescript())


def _openapi() -> None:
    print_data(to_json(as_openapi()))


_FORMATS: Mapping[str, Callable[[], None]] = MappingProxyType(
    {'text': _text, 'json': _json, 'html': _html, 'typescript': _typescript, 'openapi': _openapi}
)


@click.command(help=HELP, short_help='Show every error, for a terminal, a browser or a program.')
@click.option(
    '--format',
    'form',
    default='text',
    show_default=True,
    type=Choice(tuple(_FORMATS)),
    help='What to show it as.',
)
@click.option('--json', 'form', flag_value='json', help='The same as --format json.')
@click.pass_context
def catalog(context: click.Context, /, form: str) -> None:
    """Run the command, and end with its exit code."""
    try:
        _FORMATS[form]()
    except CommandExit as ended:
        context.exit(report_exit(ended))
