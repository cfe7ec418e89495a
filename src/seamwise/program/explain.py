"""`seamwise explain`: the meaning of an error, a code or a rule, and what to do."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from seamwise._text.jsonable import to_json
from seamwise.program.console import (
    Subcommand,
    did_you_mean,
    missing_package_exit,
    print_data,
    print_text,
)
from seamwise.program.module_option import load_catalog, module_options

if TYPE_CHECKING:
    from seamwise.documents.error_catalog import ErrorCatalog
    from seamwise.documents.lookup import Match
    from seamwise.documents.shape import Note

_RULE_CODE = re.compile(r'SW\d+', re.IGNORECASE)

# Functions import the catalogue and the tables of this library, which take long to import.

HELP = """\
Explain an error: what it means, an example, what each audience sees, and what to do.

WORD is the tag or the class of an error, its union or category, a code of HTTP, a session, a
planner or JSON-RPC ("-- -32602"), an HTTP status, an event, or an exit code. Case is ignored,
unless an exact spelling exists. If a word belongs to several errors, they are listed. For a rule of
seamwise check, such as SW101, its page is shown.

With --module or --table, the errors of your program are searched first: the modules are imported,
and the example is made from the types of the fields.

\b
Examples:
  seamwise explain FileNotFound
  seamwise explain ERR_TIMEOUT_001
  seamwise explain RATE_LIMIT --json
  seamwise explain not_found
  seamwise explain OrderNotFound --module shop.errors --table shop.http:TABLE
  seamwise explain SW101

\b
Exit codes:
    0  the word was explained
    2  the word or the table is unknown, or the command was used incorrectly
   65  a module cannot be imported or has no errors
   66  a module does not exist
   70  a defect: the log has details
   74  standard output, or the workspace of the example, cannot be written
   78  a package is missing, also one that a module of your program imports
  141  the reader of the output has ended
"""


@click.command('explain', cls=Subcommand, help=HELP)
@click.argument('word')
@click.option('--json', 'as_json', is_flag=True, help='Write one JSON object with all details.')
@module_options
@click.pass_context
def command(
    context: click.Context,
    /,
    word: str,
    *,
    as_json: bool,
    modules: Sequence[str],
    tables: Sequence[str],
) -> None:
    """Run the subcommand, and exit with its code."""
    own_words: tuple[str, ...] = ()
    if modules or tables:
        own_words = _explain_own(word, modules, tables, as_json=as_json)
        if not own_words:
            return
    if _RULE_CODE.fullmatch(word):
        _explain_rule(word, context, as_json=as_json)
    else:
        _explain(word, own_words, context, as_json=as_json)


def _explain_own(
    word: str, modules: Sequence[str], tables: Sequence[str], *, as_json: bool
) -> tuple[str, ...]:
    """Explain a word of a program; if there is no such word, return those that there are."""
    from seamwise.documents.lookup import Index  # noqa: PLC0415

    catalog = load_catalog(modules, tables)
    index = Index(catalog)
    matches = index.lookup(word)
    if not matches:
        return index.words()
    _print(word, (), matches, catalog, as_json=as_json)
    return ()


def _explain(
    word: str, own_words: tuple[str, ...], context: click.Context, *, as_json: bool
) -> None:
    from seamwise.documents.library import library_catalog  # noqa: PLC0415
    from seamwise.documents.lookup import Index  # noqa: PLC0415
    from seamwise.documents.words import noted_words, notes_on  # noqa: PLC0415

    catalog = library_catalog()
    index = Index(catalog)
    matches, notes = index.lookup(word), notes_on(word)
    if not matches and not notes:
        words = dict.fromkeys((*own_words, *index.words(), *noted_words()))
        hint = '' if own_words else ' Use --module for an error of your own program.'
        raise click.BadParameter(
            f'there is no error and no code {word!r}.{did_you_mean(word, tuple(words))}{hint}',
            context,
            param_hint="'WORD'",
        )
    _print(word, notes, matches, catalog, as_json=as_json)


def _print(
    word: str,
    notes: 'Sequence[Note]',
    matches: 'Sequence[Match]',
    catalog: 'ErrorCatalog',
    *,
    as_json: bool,
) -> None:
    from seamwise.documents.lookup import GROUPS  # noqa: PLC0415
    from seamwise.documents.text import render_entry, render_matches  # noqa: PLC0415
    from seamwise.program.catalog_entries import catalog_entries  # noqa: PLC0415

    kinds = [match.kind for match in matches]
    if as_json:
        entries = catalog_entries(kinds, catalog)
        print_data(to_json({'asked': word, 'words': notes, 'entries': entries}))
    elif len(matches) == 1 and matches[0].role not in GROUPS:
        print_text(render_entry(*catalog_entries(kinds, catalog)))
    else:
        print_text(render_matches(word, notes, matches))


def _explain_rule(word: str, context: click.Context, *, as_json: bool) -> None:
    code = word.upper()
    try:
        # Imported here, because mypy takes half a second to import.
        from seamwise.check.rules.registry import RULES  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise missing_package_exit(error, 'mypy', extra='check') from error
    rule = RULES.get(code)
    if rule is None:
        raise click.BadParameter(
            f'there is no rule {code!r}.{did_you_mean(code, tuple(RULES))}',
            context,
            param_hint="'WORD'",
        )
    if as_json:
        entry = {'code': code, 'title': rule.title, 'severity': rule.severity, 'page': rule.page}
        print_data(to_json({'asked': word, 'rule': entry}))
    else:
        print_data(rule.page)
