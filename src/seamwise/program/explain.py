"""`seamwise explain`: the meaning of an error or a code, an example, and what to do."""

from collections.abc import Sequence

import click

from seamwise._text.jsonable import to_json
from seamwise.documents.lookup import Match, known_words, lookup
from seamwise.documents.text import render_entry, render_matches
from seamwise.program.catalog_entries import catalog_entries
from seamwise.program.console import (
    CommandExit,
    did_you_mean,
    print_data,
    print_text,
    report_exit,
)

HELP = """\
Explain an error: what it means, an example, what each audience sees, and what to do.

WORD is the tag or the class of an error, or a code: of HTTP, a session, a planner, JSON-RPC
("-- -32602"), or an exit code. Case is ignored. If a code stands for several errors, they are
listed.

\b
Examples:
  seamwise explain FileNotFound
  seamwise explain ERR_TIMEOUT_001
  seamwise explain RATE_LIMIT --json

\b
Exit codes:
    0  the error was explained
    2  the error or code does not exist, or the command was used incorrectly
   70  a defect: the log has details
   74  standard output, or the workspace of the example, cannot be written
   78  a package is missing
  141  the reader of the output has ended
"""


@click.command(help=HELP, short_help='Explain an error or a code, and what to do.')
@click.argument('word')
@click.option('--json', 'as_json', is_flag=True, help='Write one JSON object with all details.')
@click.pass_context
def explain(context: click.Context, /, word: str, *, as_json: bool) -> None:
    """Run the subcommand, and exit with its code."""
    matches = lookup(word)
    if not matches:
        raise click.BadParameter(
            f'there is no error and no code {word!r}.{did_you_mean(word, known_words())}',
            context,
            param_hint="'WORD'",
        )
    try:
        _explain(word, matches, as_json=as_json)
    except CommandExit as error:
        context.exit(report_exit(error))


def _explain(word: str, matches: Sequence[Match], *, as_json: bool) -> None:
    if len(matches) > 1 and not as_json:
        print_text(render_matches(word, matches))
        return
    entries = catalog_entries(match.kind for match in matches)
    if as_json:
        print_data(to_json({'asked': word, 'entries': entries}))
    else:
        print_text(render_entry(*entries))
