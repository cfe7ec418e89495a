"""`seamwise map`: the paths of errors through a program."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seamwise._results.containers import Failure
from seamwise._text.phrases import join_quoted
from seamwise.program.console import (
    Choice,
    CommandExit,
    Exit,
    Subcommand,
    did_you_mean,
    missing_package_exit,
    os_error_exit,
    print_data,
    print_text,
    std_stream,
    unread_exit,
    write_stderr,
)
from seamwise.program.module_option import find_source, module_options

if TYPE_CHECKING:
    from seamwise.check.map.graph import ErrorNode, Graph, SeamNode

# Functions import `seamwise.check` themselves: it imports mypy, which takes half a second.

HELP = """\
Show the paths of errors: the origin of an error, the functions that it passes, and the seam that
shows it.

PATH is a file or a folder; --module names a module or a package instead. mypy infers the types,
with its own configuration in the current directory; no module is imported. Without options, a
summary is shown. --of, --to and --table describe a part; with --format, only that part is drawn.

\b
Formats:
  text     for a terminal
  dot      for Graphviz
  mermaid  a Mermaid flowchart
  json     all details, for programs
  html     one page with a search; #error=FULL.NAME leads to an error

\b
Examples:
  seamwise map src
  seamwise map src --of NoSuchOrder
  seamwise map src --to http
  seamwise map --module shop --table shop.http:TABLE
  seamwise map src --format html -o map.html
  seamwise map src --of NoSuchOrder --format dot | dot -Tsvg > order.svg

\b
Exit codes:
    0  the map was written
    2  a file could not be read or analysed, the error, seam or table is
       unknown, or the command was used incorrectly
   66  PATH or a module does not exist
   70  a defect: the log has details
   74  the file or standard output cannot be written
   78  a package is missing
  130  interrupted (128 + N: ended by signal N)
  141  the reader of the output has ended
"""

FORMAT_NAMES = ('text', 'dot', 'mermaid', 'json', 'html')


@click.command('map', cls=Subcommand, help=HELP)
@click.argument('paths', metavar='PATH…', nargs=-1)
@click.option(
    '--of',
    'error',
    metavar='ERROR',
    help='Show the paths of one error: its class, its tag or its full name.',
)
@click.option('--to', 'seam', metavar='SEAM', help='Show the errors that reach one seam.')
@click.option('--format', 'form', type=Choice(FORMAT_NAMES), help='Output format.  [default: text]')
@click.option('--json', 'as_json', is_flag=True, help='Same as --format json.')
@click.option('-o', '--output', metavar='FILE', help='Write to a file.')
@click.option('--no-cache', is_flag=True, help='Neither read nor write the cache.')
@module_options
@click.pass_context
def command(  # noqa: PLR0913 -- one parameter per option
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
    modules: Sequence[str],
    tables: Sequence[str],
) -> None:
    """Run the subcommand, and exit with its code."""
    if not (paths or modules or tables):
        raise click.UsageError('name a file or a folder, e.g. "seamwise map src".', context)
    if as_json and form not in {None, 'json'}:
        raise click.UsageError(f'--json cannot be combined with --format {form}.', context)
    _check_parts({'--of': error, '--to': seam, '--table': tables}, context)
    form = 'json' if as_json else form or 'text'
    stdout = std_stream('stdout')
    if form == 'html' and output is None and stdout is not None and stdout.isatty():
        raise click.UsageError(
            'a page cannot be shown on a terminal: add -o FILE, or choose another --format.',
            context,
        )
    try:
        paths = [*paths, *map(find_source, modules)] or _packages(tables)
        graph, code = _read_graph(paths, no_cache=no_cache)
        if tables:
            graph = _part_of_tables(graph, tables, context)
        if error is not None:
            _write(_render_errors(graph, _find_errors(graph, error, context), form), output)
        elif seam is not None:
            _write(_render_seam(graph, _find_seam(graph, seam, context), form), output)
        else:
            _write(_render_all(graph, paths, form), output)
        context.exit(code)
    except ModuleNotFoundError as not_found:
        raise missing_package_exit(not_found, 'mypy', extra='check') from not_found


def _check_parts(parts: Mapping[str, object], context: click.Context) -> None:
    """Raise a usage error if several options select a part of the map."""
    names = [name for name, value in parts.items() if value]
    if len(names) > 1:
        raise click.UsageError(f'{" and ".join(names)} cannot be combined.', context)


def _read_graph(paths: Sequence[str], *, no_cache: bool) -> 'tuple[Graph, Exit]':
    from seamwise.check.collection.code_base import read_code_base  # noqa: PLC0415
    from seamwise.check.map.build import build_graph  # noqa: PLC0415
    from seamwise.check.reports import render_problem  # noqa: PLC0415
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415
    from seamwise.check.settings import load_settings  # noqa: PLC0415

    settings = load_settings(Path.cwd(), RULES)
    if isinstance(settings, Failure):
        raise CommandExit(settings.failure(), Exit.USAGE)
    code_base = read_code_base(paths, cache=None if no_cache else settings.unwrap().cache)
    for problem in code_base.problems:
        write_stderr(f'seamwise: {render_problem(problem)}')
    is_complete = not any(problem.is_unread for problem in code_base.problems)
    return build_graph(code_base.files), Exit.OK if is_complete else unread_exit(paths)


def _packages(tables: Sequence[str]) -> list[str]:
    """Return the sources of the packages of tables."""
    return [find_source(name) for name in dict.fromkeys(table.split('.')[0] for table in tables)]


def _part_of_tables(graph: 'Graph', names: Sequence[str], context: click.Context) -> 'Graph':
    """Return the part of a graph with the errors of some tables."""
    from seamwise.check.map.filters import filter_by_errors  # noqa: PLC0415

    tables = {
        ':'.join(table.name.rsplit('.', 1)): table.errors
        for seam in graph.seams
        for table in seam.tables
    }
    for name in names:
        if name not in tables:
            suggestion = did_you_mean(name, [*filter(None, tables)])
            raise click.BadParameter(
                f'there is no table {name!r} in the analysed files.{suggestion}',
                context,
                param_hint="'--table'",
            )
    return filter_by_errors(graph, {error for name in names for error in tables[name]})


def _find_errors(graph: 'Graph', name: str, context: click.Context) -> 'Sequence[ErrorNode]':
    from seamwise.check.map.query import find_errors  # noqa: PLC0415

    errors = find_errors(graph, name)
    if isinstance(errors, Failure):
        matches = errors.failure()
        suggestion = f' Did you mean {join_quoted(matches)}?' if matches else ''
        raise click.BadParameter(
            f'there is no error {name!r}.{suggestion}', context, param_hint="'--of'"
        )
    return errors.unwrap()


def _find_seam(graph: 'Graph', name: str, context: click.Context) -> 'SeamNode':
    from seamwise.check.map.query import find_seam  # noqa: PLC0415

    seam = find_seam(graph, name)
    if isinstance(seam, Failure):
        names = seam.failure()
        known = f'there are {join_quoted(names, last="and")}' if names else 'there are no seams'
        raise click.BadParameter(
            f'there is no seam {name!r}; {known}.', context, param_hint="'--to'"
        )
    return seam.unwrap()


def _render_errors(graph: 'Graph', errors: 'Sequence[ErrorNode]', form: str) -> str | bytes:
    from seamwise.check.map.filters import filter_by_errors  # noqa: PLC0415
    from seamwise.check.map.text import MapText  # noqa: PLC0415

    if form != 'text':
        return _draw(filter_by_errors(graph, {error.name for error in errors}), form)
    text = MapText(graph)
    return '\n\n\n'.join(text.of_error(error) for error in errors)


def _render_seam(graph: 'Graph', seam: 'SeamNode', form: str) -> str | bytes:
    from seamwise.check.map.filters import filter_by_seam  # noqa: PLC0415
    from seamwise.check.map.text import MapText  # noqa: PLC0415

    if form != 'text':
        return _draw(filter_by_seam(graph, seam.name), form)
    return MapText(graph).to_seam(seam)


def _render_all(graph: 'Graph', paths: Sequence[str], form: str) -> str | bytes:
    from seamwise.check.map.text import MapText  # noqa: PLC0415

    if form != 'text':
        return _draw(graph, form)
    command = f'seamwise map {" ".join(paths)}'
    more = [f'{command} --of ERROR', f'{command} --to SEAM', f'{command} --format html -o map.html']
    return '\n  '.join([f'{MapText(graph).overview()}\n\nMore:', *more])


def _draw(graph: 'Graph', form: str) -> bytes:
    from seamwise.check.map import FORMATS, mermaid  # noqa: PLC0415

    drawing = FORMATS[form](graph)
    if form == 'mermaid' and mermaid.is_too_large(graph, drawing):
        write_stderr(
            'seamwise: Mermaid rejects a drawing of this size unless maxEdges and maxTextSize are '
            'raised. Draw a part with --of or --to.'
        )
    return drawing.encode()


def _write(output: str | bytes, file: str | None) -> None:
    """Write a text as it suits the terminal, and a drawing unchanged."""
    if file is None:
        if isinstance(output, str):
            print_text(output)
        else:
            print_data(output)
        return
    data = output.encode(errors='backslashreplace') if isinstance(output, str) else output
    try:
        Path(file).write_bytes(data.removesuffix(b'\n') + b'\n')
    except OSError as error:
        raise os_error_exit(f'write to {file!r}', error, Exit.CANNOT_WRITE) from error
