"""`seamwise run`: run tool calls in a workspace, and show each result at a seam."""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

import click
import msgspec
from msgspec import Struct

from seamwise._defects.defects import report_defect
from seamwise.catalog.tools import ToolError
from seamwise.policies import Guard, GuardError
from seamwise.program.console import (
    Choice,
    Exit,
    Subcommand,
    open_std_stream,
    os_error_exit,
    std_stream,
    write_stderr,
    write_stdout,
)
from seamwise.program.outputs import OUTPUTS, CallResult, Defect
from seamwise.program.progress import progress
from seamwise.program.rendering import json_renderer, text_renderer
from seamwise.program.workspace_option import open_workspace
from seamwise.toolhost.builtin import workspace_tools
from seamwise.toolhost.calls import InputLine
from seamwise.toolhost.guards.guarded_call import CallStats, GuardedRunner
from seamwise.toolhost.host import Host
from seamwise.toolhost.reader import read_calls
from seamwise.toolhost.tools import Tools

ALL = 'all'
SEAMS = (*OUTPUTS, ALL)
LOCALES = ('en', 'zh_CN')
STDIN = '-'
AUTO = 'auto'
"""All formats of the output of a model."""


def _check_names(
    _context: click.Context, _option: click.Parameter, names: tuple[str, ...]
) -> tuple[str, ...]:
    for name in names:
        if not name or '=' in name:
            raise click.BadParameter(f'{name!r} is not the name of an environment variable.')
    return names


HELP = """\
Run the tool calls of FILE in a workspace, and show each result as one audience sees it.

FILE contains JSON Lines; without it, or with "-", they are read from standard input. A line is a
call such as {"id": "c1", "tool": "read_file", "arguments": {"path": "a.txt"}}. The calls run one
after the other, and the output of each is written before the next one starts. It is one line of
JSON per call, one per call and seam with "all", and text with "cli".

With --format, FILE contains the output of a model instead: a text with calls in any known
format, or the response of a provider. "auto" reads all formats.

\b
Examples:
  seamwise run examples/calls.jsonl --workspace examples/workspace --seam cli
  seamwise run examples/calls.jsonl --workspace examples/workspace --seam all
  seamwise run --format auto examples/answer.txt --workspace . --seam cli

\b
Exit codes:
    0  every call succeeded, or there was none
    1  a call failed
    2  the command was used incorrectly
   66  FILE, DIR or the guards file does not exist or cannot be read
   70  a defect: its line contains INTERNAL and a reference to the log
   74  standard output cannot be written
   78  the guards file is invalid and no call ran, or a package is missing
  130  interrupted (128 + N: ended by signal N)
  141  the reader of the output has ended ("| head -1"); no further call runs
"""


def _check_format(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """Return the name of a format; raise `click.BadParameter` for another one."""
    if value is None:
        return None
    from seamwise.toolhost.formats.parsing import FORMATS  # noqa: PLC0415 -- see `_read_calls`

    return Choice((AUTO, *FORMATS)).convert(value, parameter, context)


class Options(Struct, frozen=True, kw_only=True):
    """The parsed command line."""

    file: str
    workspace: str
    seam: str
    locale: str
    json: bool
    repeat_limit: int
    mistake_limit: int
    guards: str | None
    format: str | None
    env: tuple[str, ...]


@click.command('run', cls=Subcommand, help=HELP)
@click.argument('file', default=STDIN)
@click.option(
    '--workspace',
    required=True,
    metavar='DIR',
    help='The folder in which the calls work.',
)
@click.option(
    '--seam', required=True, type=Choice(SEAMS), help='The audience whose output to show.'
)
@click.option(
    '--locale',
    default='en',
    show_default=True,
    type=Choice(LOCALES),
    help='Language of the texts for users.',
)
@click.option(
    '--format',
    metavar='auto|NAME',
    callback=_check_format,
    help='Read the output of a model, with calls in this format, instead of JSON Lines.',
)
@click.option('--json', is_flag=True, help='Write JSON for the seam cli too.')
@click.option(
    '--repeat-limit',
    default=3,
    show_default=True,
    type=click.IntRange(min=0),
    metavar='N',
    help='Refuse a call after N equal ones in a row; 0: never.',
)
@click.option(
    '--mistake-limit',
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    metavar='N',
    help='Refuse all calls after N avoidable failures in a row; 0: never.',
)
@click.option(
    '--guards',
    metavar='FILE',
    help='Guards around the tools, in TOML; lines then include attempts and waits.',
)
@click.option(
    '--env',
    multiple=True,
    metavar='NAME',
    callback=_check_names,
    help='An environment variable that commands get too; repeatable.',
)
@click.pass_context
def command(context: click.Context, /, **parameters: object) -> None:
    """Run the subcommand, and exit with its code."""
    context.exit(_run(msgspec.convert(parameters, Options)))


def _run(options: Options) -> Exit:
    stdout = open_std_stream('stdout', Exit.CANNOT_WRITE)
    if options.seam == 'cli' and not options.json:
        render = text_renderer(stdout)
    else:
        render = json_renderer(tuple(OUTPUTS) if options.seam == ALL else (options.seam,))
    prompt = 'one call per line' if options.format is None else 'the output of a model'
    with _open_source(options.file, prompt) as source:
        tools = workspace_tools(open_workspace(options.workspace), variables=options.env)
        host = Host(
            tools,
            runner=GuardedRunner(_load_guards(options.guards, tools)),
            repeat_limit=options.repeat_limit,
            mistake_limit=options.mistake_limit,
        )
        code = Exit.OK
        with progress(source, stdout=stdout, stderr=std_stream('stderr')) as pause:
            for line in _read_calls(source, options):
                result = _run_call(host, line, options)
                with pause():
                    for chunk in render(result):
                        write_stdout(chunk.data, stdout)
                        code = max(code, chunk.code)
    return code


def _load_guards(
    file: str | None, tools: Tools[ToolError]
) -> Mapping[str, Guard[GuardError]] | None:
    if file is None:
        return None
    # Imported here: without guards, reading them would take longer than a short run.
    from seamwise.program.guards_option import load_guards  # noqa: PLC0415

    return load_guards(file, tools)


def _run_call(host: Host, line: InputLine, options: Options) -> CallResult:
    stats = CallStats()
    reported_stats = None if options.guards is None else stats
    try:
        result = host.run(line, stats=stats)
        return CallResult(
            line,
            result,
            options.locale,
            reported_stats,
            may_have_taken_effect=stats.may_have_taken_effect,
        )
    except Exception as error:  # noqa: BLE001 -- reported as a defect; the other calls still run
        defect = Defect(error, report_defect(error).ref)
        return CallResult(line, defect, options.locale, reported_stats)


def _open_source(file: str, prompt: str) -> AbstractContextManager[BinaryIO]:
    if file == STDIN:
        stdin = open_std_stream('stdin', Exit.NO_INPUT)
        if stdin.isatty():
            write_stderr(f'seamwise: enter {prompt}; end with Ctrl-D.')
        return nullcontext(stdin.buffer)
    try:
        return _to_path(file).open('rb')
    except OSError as error:
        raise os_error_exit(f'read {file!r}', error, Exit.NO_INPUT) from error


def _read_calls(source: BinaryIO, options: Options) -> Iterator[InputLine]:
    try:
        if options.format is None:
            yield from read_calls(source)
            return
        # Imported here, because JSON Lines do not need the readers of all formats.
        from seamwise.toolhost.output_reader import read_output  # noqa: PLC0415

        calls = read_output(source, only=None if options.format == AUTO else [options.format])
    except OSError as error:
        raise os_error_exit(f'read {options.file!r}', error, Exit.NO_INPUT) from error
    if not calls:
        write_stderr('seamwise: the output contains no tool call.')
    yield from calls


def _to_path(name: str) -> Path:
    # Path('') is the current folder.
    if not name:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return Path(name)
