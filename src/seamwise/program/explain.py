"""`seamwise explain`: the meaning of an error, a code or a rule, and what to do."""

import os
import re
import sys
from importlib import import_module

import click

from seamwise._text.jsonable import to_json
from seamwise.documents.collect import describe_class
from seamwise.documents.lookup import errors_in_module, known_words, lookup
from seamwise.documents.text import render_entry, render_matches
from seamwise.errors import TaggedError
from seamwise.program.catalog_entries import catalog_entries
from seamwise.program.console import (
    CommandExit,
    Exit,
    did_you_mean,
    missing_package_exit,
    print_data,
    print_text,
    report_exit,
)
from seamwise.redaction import redact

_RULE_CODE = re.compile(r'SW\d+', re.IGNORECASE)

HELP = """\
Explain an error: what it means, an example, what each audience sees, and what to do.

WORD is the tag or the class of an error, or a code: of HTTP, a session, a planner, JSON-RPC
("-- -32602"), or an exit code. Case is ignored. If a code belongs to several errors, they are
listed. For a rule of seamwise check, such as SW101, its page is shown.

\b
Examples:
  seamwise explain FileNotFound
  seamwise explain ERR_TIMEOUT_001
  seamwise explain RATE_LIMIT --json
  seamwise explain OrderNotFound --module shop.errors
  seamwise explain SW101

\b
Exit codes:
    0  the word was explained
    2  the word is unknown, the module cannot be imported, or the command was used incorrectly
   70  a defect: the log has details
   74  standard output, or the workspace of the example, cannot be written
   78  a package is missing
  141  the reader of the output has ended
"""


@click.command(help=HELP, short_help='Explain an error, a code or a rule, and what to do.')
@click.argument('word')
@click.option('--json', 'as_json', is_flag=True, help='Write one JSON object with all details.')
@click.option(
    '--module',
    metavar='MODULE',
    help='Look up the errors of your own program in this module or package, and import it.',
)
@click.pass_context
def explain(context: click.Context, /, word: str, *, as_json: bool, module: str | None) -> None:
    """Run the subcommand, and exit with its code."""
    try:
        if module is not None:
            _explain_own(word, module, context, as_json=as_json)
        elif _RULE_CODE.fullmatch(word):
            _explain_rule(word, context, as_json=as_json)
        else:
            _explain(word, context, as_json=as_json)
    except CommandExit as error:
        context.exit(report_exit(error))


def _explain(word: str, context: click.Context, *, as_json: bool) -> None:
    matches = lookup(word)
    if not matches:
        suggestion = did_you_mean(word, known_words())
        raise click.BadParameter(
            f'there is no error and no code {word!r}.{suggestion} '
            'Use --module for an error of your own program.',
            context,
            param_hint="'WORD'",
        )
    if len(matches) > 1 and not as_json:
        print_text(render_matches(word, matches))
        return
    entries = catalog_entries(match.kind for match in matches)
    if as_json:
        print_data(to_json({'asked': word, 'entries': entries}))
    else:
        print_text(render_entry(*entries))


def _import(module: str) -> None:
    """Import a module of the user.

    Raises:
        CommandExit: The module does not exist, or its code failed.
    """
    # As for `python -m`: modules of the current folder can be imported.
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        import_module(module)
    # The module runs code of the user, which can raise anything or call `sys.exit`.
    except (Exception, SystemExit) as error:
        type_name = '' if isinstance(error, ImportError) else f'{type(error).__name__}: '
        reason = redact(f'{type_name}{error}')
        path = module.removesuffix('.py').replace('/', '.')
        hint = '' if path == module else f'. Did you mean --module {path}?'
        raise CommandExit(f'cannot import {module!r}: {reason}{hint}', Exit.USAGE) from error


def _explain_own(word: str, module: str, context: click.Context, *, as_json: bool) -> None:
    _import(module)
    kinds = errors_in_module(module)
    matches = [kind for kind in kinds if word.casefold() in map(str.casefold, _names_of(kind))]
    if not matches:
        names = tuple(name for kind in kinds for name in _names_of(kind))
        raise click.BadParameter(
            f'the module {module!r} has no error {word!r}.{did_you_mean(word, names)}',
            context,
            param_hint="'WORD'",
        )
    entries = [describe_class(kind) for kind in matches]
    if as_json:
        print_data(to_json({'asked': word, 'entries': entries}))
    else:
        print_text('\n\n\n'.join(map(render_entry, entries)))


def _names_of(kind: type[TaggedError]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((kind.__traits__.tag, kind.__name__)))


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
