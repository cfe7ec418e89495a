"""`seamwise map`: which error can travel from where to where."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seamwise._text.phrases import join_quoted
from seamwise.containers import Failure
from seamwise.program.choices import Choice
from seamwise.program.exit_errors import CommandExit, os_error_exit, report_exit
from seamwise.program.exits import Exit
from seamwise.program.printing import print_data, print_text
from seamwise.program.streams import say, standard

if TYPE_CHECKING:
    from seamwise.check.map.graph import ErrorNode, Graph, SeamNode

HELP = """\
Draw which error can travel from where to where: where it is made, through which functions it goes, and which seam shows it.

PATH is a file or a folder. mypy infers the types, as its own configuration in the current directory says. Without an option
the map is summed up; --of and --to tell of a part of it, or with --format draw that part only.

\b
Formats:
  text     for a terminal
  dot      for Graphviz
  mermaid  a flowchart for Mermaid
  json     all of it, for programs
  html     one page that needs nothing else, with a search; #error=shop.errors.NoSuchOrder leads to that error

\b
Examples:
  seamwise map src
  seamwise map src --of NoSuchOrder
  seamwise map src --to http
  seamwise map src --format html -o map.html
  seamwise map src --of NoSuchOrder --format dot | dot -Tsvg > order.svg

\b
Exit codes:
    0  it was drawn
    2  something could not be read or analysed, there is no such error or seam, or the command was used wrongly
   70  a defect: the log says more
   74  the file or standard output cannot be written
   78  a package is missing that the command needs
  130  it was interrupted
  141  the output has no reader any more
"""

FORMATS = ('text', 'dot', 'mermaid', 'json', 'html')


@click.command('map', help=HELP, short_help='Draw which error can travel from where to where.')
@click.argument('paths', metavar='PATH…', nargs=-1)
@click.option(
    '--of',
    'error',
    metavar='ERROR',
    help='Tell the ways of one error: its class, its tag or its full name.',
)
@click.option(
    '--to', 'seam', metavar='SEAM', help='Tell which errors arrive at one seam, and from where.'
)
@click.option('--format', 'form', type=Choice(FORMATS), help='What to draw it as.  [default: text]')
@click.option('--json', 'as_json', is_flag=True, help='The same as --format json.')
@click.option('-o', '--output', metavar='FILE', help='Write to a file.')
@click.option(
    '--no-cache', is_flag=True, help='Read every file again, and keep nothing for the next time.'
)
@click.pass_context
def map_(  # noqa: PLR0913 -- one for each option
    context: click.Context,
    /,
    paths: Sequence[str],
    *,
    error: str | None,
    seam: str | None,
    form: str | None,
    as_json: bool,
    output: str | None,
    no_cache: bool,
) -> None:
    """Run the command, and end with its exit code."""
    if not paths:
        raise click.UsageError(
            'name a file or a folder to draw, as in "seamwise map src".', context
        )
    if as_json and form not in {None, 'json'}:
        raise click.UsageError(
            f'--json is the same as --format json, and says otherwise than --format {form}.',
            context,
        )
    if error is not None and seam is not None:
        raise click.UsageError(
            '--of and --to ask for two different parts of the map; name one.', context
        )
    asked = 'json' if as_json else form or 'text'
    stdout = standard('stdout')
    if asked == 'html' and output is None and stdout is not None and stdout.isatty():
        raise click.UsageError(
            'a page is nothing to read on a terminal; name a file for it by -o, or another --format.',
            context,
        )
    try:
        graph, ended = _read(paths, no_cache=no_cache)
        if error is not None:
            _write(_of(graph, _errors(graph, error, context), asked), output)
        elif seam is not None:
            _write(_to(graph, _seam(graph, seam, context), asked), output)
        else:
            _write(_all(graph, paths, asked), output)
        context.exit(ended)
    except CommandExit as wrong:
        context.exit(report_exit(wrong))
    except ModuleNotFoundError as missing:
        if (missing.name or '').partition('.')[0] != 'mypy':
            raise
        context.exit(
            report_exit(
                CommandExit(
                    "the command needs mypy, which is not installed; get it by: pip install 'seamwise[check]'",
                    Exit.MISCONFIGURED,
                )
            )
        )


def _read(paths: Sequence[str], *, no_cache: bool) -> 'tuple[Graph, Exit]':
    # Not before it is asked for: mypy takes half a second.
    from seamwise.check.code_base import read_code_base  # noqa: PLC0415
    from seamwise.check.map.build import build_graph  # noqa: PLC0415
    from seamwise.check.reports import render_problem  # noqa: PLC0415
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415
    from seamwise.check.settings import load_settings  # noqa: PLC0415

    asked = load_settings(Path.cwd(), RULES)
    if isinstance(asked, Failure):
        raise CommandExit(asked.failure(), Exit.USAGE)
    code_base = read_code_base(paths, cache=None if no_cache else asked.unwrap().cache)
    for problem in code_base.problems:
        say(f'seamwise: {render_problem(problem)}')
    return build_graph(code_base.files), Exit.USAGE if any(
        one.is_unread for one in code_base.problems
    ) else Exit.OK


def _errors(graph: 'Graph', word: str, context: click.Context) -> 'Sequence[ErrorNode]':
    from seamwise.check.map.query import find_errors  # noqa: PLC0415

    found = find_errors(graph, word)
    if isinstance(found, Failure):
        meant = f' Did you mean {join_quoted(found.failure())}?' if found.failure() else ''
        raise click.BadParameter(
            f'there is no error {word!r}.{meant}', context, param_hint="'--of'"
        )
    return found.unwrap()


def _seam(graph: 'Graph', word: str, context: click.Context) -> 'SeamNode':
    from seamwise.check.map.query import find_seam  # noqa: PLC0415

    found = find_seam(graph, word)
    if isinstance(found, Failure):
        known = (
            f'there are {join_quoted(found.failure(), last="and")}'
            if found.failure()
            else 'there is none'
        )
        raise click.BadParameter(
            f'there is no seam {word!r}; {known}.', context, param_hint="'--to'"
        )
    return found.unwrap()


def _of(graph: 'Graph', errors: 'Sequence[ErrorNode]', form: str) -> str | bytes:
    from seamwise.check.map.filters import filter_by_errors  # noqa: PLC0415
    from seamwise.check.map.text import MapText  # noqa: PLC0415

    if form != 'text':
        return _drawn(filter_by_errors(graph, {one.name for one in errors}), form)
    words = MapText(graph)
    return '\n\n\n'.join(words.of_error(one) for one in errors)


def _to(graph: 'Graph', seam: 'SeamNode', form: str) -> str | bytes:
    from seamwise.check.map.filters import filter_by_seam  # noqa: PLC0415
    from seamwise.check.map.text import MapText  # noqa: PLC0415

    return (
        _drawn(filter_by_seam(graph, seam.name), form)
        if form != 'text'
        else MapText(graph).to_seam(seam)
    )


def _all(graph: 'Graph', paths: Sequence[str], form: str) -> str | bytes:
    from seamwise.check.map.text import MapText  # noqa: PLC0415

    if form != 'text':
        return _drawn(graph, form)
    again = f'seamwise map {" ".join(paths)}'
    more = f'More:\n  {again} --of ERROR\n  {again} --to SEAM\n  {again} --format html -o map.html'
    return f'{MapText(graph).overview()}\n\n{more}'


def _drawn(graph: 'Graph', form: str) -> bytes:
    from seamwise.check.map import FORMATS, mermaid  # noqa: PLC0415

    drawing = FORMATS[form](graph)
    if form == 'mermaid' and mermaid.is_too_large(graph, drawing):
        say(
            'seamwise: Mermaid refuses a drawing as large as this, unless maxEdges and maxTextSize are raised; --of and --to draw a part.'
        )
    return drawing.encode()


def _write(told: str | bytes, output: str | None) -> None:
    """Write a text as it suits the terminal, and a drawing as it is."""
    if output is None:
        if isinstance(told, str):
            print_text(told)
        else:
            print_data(told)
        return
    data = told.encode(errors='backslashreplace') if isinstance(told, str) else told
    try:
        Path(output).write_bytes(data.removesuffix(b'\n') + b'\n')
    except OSError as raised:
        raise os_error_exit(f'write to {output!r}', raised, Exit.CANNOT_WRITE) from raised
