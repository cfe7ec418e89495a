"""`seamwise run`: reads calls, runs them in a workspace, and shows each result as one seam would."""

import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO, Literal, TextIO

import click
import msgspec
from msgspec import Struct

from seamwise.defects import report_defect
from seamwise.program.choices import Choice
from seamwise.program.exit_errors import CommandExit, os_error_exit, report_exit, stdout_error_exit
from seamwise.program.exits import Exit
from seamwise.program.guards_option import guarding
from seamwise.program.outputs import OUTPUTS, CallResult, Defect
from seamwise.program.progress import progress
from seamwise.program.rendering import as_json, as_text
from seamwise.program.streams import say, standard
from seamwise.toolhost.calls import InputLine
from seamwise.toolhost.guards.guarded_call import CallStats
from seamwise.toolhost.host import Host
from seamwise.toolhost.reader import read_calls
from seamwise.toolhost.workspace.workspace import Workspace

ALL = 'all'
SEAMS = (*OUTPUTS, ALL)
LOCALES = ('en', 'zh_CN')
STDIN = '-'

HELP = """\
Run the tool calls of FILE in a workspace, and show each result as one audience gets it.

FILE holds JSON Lines; without it, or with "-", they come from standard input. A line is a call such as
{"id": "c1", "tool": "read_file", "arguments": {"path": "a.txt"}}. The calls run one after the other, and the
output of each is written before the next one starts: one line of JSON a call, with "all" one a call and seam,
and with "cli" a text.

\b
Example:
  seamwise run examples/calls.jsonl --workspace examples/workspace --seam all

\b
Exit codes:
    0  every call succeeded, or there was none
    1  a call failed
    2  the command was used wrongly
   66  FILE, DIR or the guards file is not there, or cannot be read
   70  a defect: its line says INTERNAL and a reference, the log more
   74  standard output cannot be written
   78  the guards are not valid, so no call ran; or a package is missing
  130  interrupted (128 + N: ended by signal N)
  141  the output has no reader any more ("| head -1"); no further call runs
"""


class Options(Struct, frozen=True, kw_only=True):
    """What was asked for on the command line."""

    file: str
    workspace: str
    seam: str
    locale: str
    json: bool
    repeat_limit: int
    mistake_limit: int
    guards: str | None


@click.command(
    help=HELP,
    short_help='Run tool calls in a workspace, and show the results as an audience gets them.',
)
@click.argument('file', default=STDIN)
@click.option(
    '--workspace',
    required=True,
    metavar='DIR',
    help='The folder that the calls work in, and never leave.',
)
@click.option(
    '--seam', required=True, type=Choice(SEAMS), help='The audience whose output is shown.'
)
@click.option(
    '--locale',
    default='en',
    show_default=True,
    type=Choice(LOCALES),
    help='The language of texts that a user sees.',
)
@click.option(
    '--json', is_flag=True, help='Lines of JSON for the seam cli too; all others write them anyway.'
)
@click.option(
    '--repeat-limit',
    default=3,
    show_default=True,
    type=click.IntRange(min=0),
    metavar='N',
    help='Equal calls that run in a row; 0: any number.',
)
@click.option(
    '--mistake-limit',
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    metavar='N',
    help='Mistakes in a row after which no call runs; 0: never.',
)
@click.option(
    '--guards',
    metavar='FILE',
    help='Guards around the tools, in TOML; the lines then tell of attempts and waits.',
)
@click.pass_context
def run(context: click.Context, /, **given: object) -> None:
    """Run the command, and end with its exit code."""
    try:
        code = _run(msgspec.convert(given, Options))
    except CommandExit as ended:
        code = report_exit(ended)
    except KeyboardInterrupt:
        code = report_exit(CommandExit('interrupted.', Exit.INTERRUPTED))
    context.exit(code)


def _run(options: Options) -> Exit:
    stdout = _open('stdout', Exit.CANNOT_WRITE)
    show = (
        as_text(stdout)
        if options.seam == 'cli' and not options.json
        else as_json(_seams(options.seam))
    )
    with _opened(options.file) as source:
        host = Host(
            _workspace(options.workspace),
            runner=None if options.guards is None else guarding(options.guards),
            repeat_limit=options.repeat_limit,
            mistake_limit=options.mistake_limit,
        )
        with progress(source, stdout=stdout, stderr=standard('stderr')) as aside:
            code = Exit.OK
            for line in _lines(source, options.file):
                asked = _asked(host, line, options)
                with aside():
                    for piece in show(asked):
                        _write(piece.data, stdout.buffer)
                        code = max(code, piece.code)
    return code


def _asked(host: Host, line: InputLine, options: Options) -> CallResult:
    tries = CallStats()
    told = None if options.guards is None else tries
    try:
        return CallResult(line, host.run(line, stats=tries), options.locale, told)
    except Exception as raised:  # noqa: BLE001 -- a tool's bug, which is reported, and the other calls still run
        return CallResult(line, Defect(raised, report_defect(raised).ref), options.locale, told)


def _seams(asked: str) -> tuple[str, ...]:
    return tuple(OUTPUTS) if asked == ALL else (asked,)


def _workspace(folder: str) -> Workspace:
    try:
        return Workspace(_path(folder))
    except OSError as raised:
        raise os_error_exit(f'use {folder!r} as the workspace', raised, Exit.NO_INPUT) from raised


def _opened(file: str) -> AbstractContextManager[BinaryIO]:
    if file == STDIN:
        stdin = _open('stdin', Exit.NO_INPUT)
        if stdin.isatty():
            say('seamwise: reading calls from the terminal, one a line; Ctrl-D ends them.')
        return nullcontext(stdin.buffer)
    try:
        return _path(file).open('rb')
    except OSError as raised:
        raise os_error_exit(f'read {file!r}', raised, Exit.NO_INPUT) from raised


def _lines(source: BinaryIO, file: str) -> Iterator[InputLine]:
    try:
        yield from read_calls(source)
    except OSError as raised:
        raise os_error_exit(f'read {file!r}', raised, Exit.NO_INPUT) from raised


def _write(data: bytes, stdout: BinaryIO) -> None:
    try:
        stdout.write(data)
        stdout.flush()
    except OSError as raised:
        raise stdout_error_exit(raised) from raised


def _open(name: Literal['stdin', 'stdout'], code: Exit) -> TextIO:
    stream = standard(name)
    if stream is None:
        raise CommandExit(f'{name} is closed.', code)
    return stream


def _path(given: str) -> Path:
    # To Path, nothing is the current folder, which nobody has named.
    if not given:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return Path(given)
