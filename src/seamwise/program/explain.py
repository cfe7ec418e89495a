"""`seamwise explain`: says of an error, or of a code, what it means, how it comes about, and what to do."""

from collections.abc import Sequence

import click

from seamwise._close_matches import close_matches
from seamwise._text.jsonable import to_json
from seamwise._text.phrases import join_quoted
from seamwise.documents.lookup import Match, lookup, words
from seamwise.documents.text import as_text, to_list_text
from seamwise.program.catalog_entries import entries
from seamwise.program.exit_errors import CommandExit, report_exit
from seamwise.program.printing import print_data, print_text

HELP = """\
Say what an error means, make one, and show what each audience is told of it.

WORD is the tag or the class of an error, or a code that some audience knows it by: of HTTP, of a session, of a planner,
of JSON-RPC ("-- -32602"), or an exit code. Upper and lower case are the same. Where a code stands for several errors,
they are listed.

\b
Examples:
  seamwise explain FileNotFound
  seamwise explain ERR_TIMEOUT_001
  seamwise explain RATE_LIMIT --json

\b
Exit codes:
    0  it was explained
    2  there is no such error or code, or the command was used wrongly
   70  a defect: the log says more
   74  standard output cannot be written, or the workspace for the example
   78  a package is missing that the command needs
  141  the output has no reader any more
"""


@click.command(help=HELP, short_help='Say what an error or a code means, and what to do.')
@click.argument('word')
@click.option(
    '--json',
    'as_json',
    is_flag=True,
    help='One JSON object, with all that there is to say of every error.',
)
@click.pass_context
def explain(context: click.Context, /, word: str, *, as_json: bool) -> None:
    """Run the command, and end with its exit code."""
    found = lookup(word)
    if not found:
        raise click.BadParameter(
            f'there is no error and no code {word!r}.{_meant(word)}', context, param_hint="'WORD'"
        )
    try:
        _explain(word, found, as_json=as_json)
    except CommandExit as ended:
        context.exit(report_exit(ended))


def _meant(word: str) -> str:
    found = close_matches(word, words())
    return f' Did you mean {join_quoted(found)}?' if found else ''


def _explain(word: str, found: Sequence[Match], *, as_json: bool) -> None:
    kinds = [one.kind for one in found]
    if as_json:
        print_data(to_json({'asked': word, 'entries': entries(kinds)}))
    elif len(kinds) > 1:
        print_text(to_list_text(word, found))
    else:
        print_text(as_text(*entries(kinds)))
