"""The group of all subcommands, and the start and the end of the process."""

import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import FrameType, MappingProxyType
from typing import NoReturn

import click
from typing_extensions import override

from seamwise._defects.defects import report_defect
from seamwise._text.phrases import join_quoted
from seamwise.program import missing_package
from seamwise.program.console import (
    SIGNALLED,
    CommandExit,
    Exit,
    log_to_stderr,
    report_exit,
    stdout_error_exit,
    write_usage_error,
)
from seamwise.seams import cli
from seamwise.seams.cli.environment import STYLE_VARIABLE, STYLES

HELP = """\
Typed failures inside, one shape per seam outside.

Colour is used on terminals only, and never if NO_COLOR is set. Other settings:

\b
SEAMWISE_STYLE=plain          no escape sequences, and no progress
SEAMWISE_STYLE=screen-reader  also no wrapped lines, and no carets
"""


SUBCOMMANDS: Mapping[str, str] = MappingProxyType(
    {
        'run': 'Run tool calls in a workspace, and show the results at a seam.',
        'serve': 'Offer the tools of a workspace over HTTP.',
        'mcp': 'Offer the tools of a workspace to a client of MCP.',
        'explain': 'Explain an error, a code or a rule, and what to do.',
        'catalog': 'Show all errors, for a terminal, a browser or a program.',
        'check': 'Report mistakes in error handling that a type checker accepts.',
        'migrate': 'Rewrite code that raises exceptions, so that it returns Results.',
        'lsp': 'Show the findings of `check` in an editor.',
        'map': 'Show the paths of errors through a program.',
        'scaffold': 'Write an error class, and its arm at each seam.',
    }
)
"""The subcommands with their lines in the help, in its order. Each is a module of its name."""


class LazyGroup(click.Group):
    """Group whose subcommands are imported when they run: most of them import much."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands:
            return None
        command: click.Command = import_module(f'seamwise.program.{cmd_name}').command
        return command

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section('Commands'):
            formatter.write_dl(list(SUBCOMMANDS.items()))


@click.group(
    cls=LazyGroup,
    # Suggestions for a misspelt subcommand need the names only.
    commands={name: click.Command(name) for name in SUBCOMMANDS},
    help=HELP,
    context_settings={'help_option_names': ['-h', '--help']},
)
@click.version_option(package_name='seamwise', prog_name='seamwise', message='%(prog)s %(version)s')
def seamwise() -> None:
    """Check the environment before a subcommand runs."""
    style = os.environ.get(STYLE_VARIABLE)
    if style and style not in STYLES:
        raise click.UsageError(f'{STYLE_VARIABLE} must be {join_quoted(STYLES)}, not {style!r}.')


def start(arguments: Sequence[str]) -> NoReturn:
    """Run the command with these arguments, and exit with its code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # nohup(1) relies on an ignored SIGHUP.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _exit_on_signal)
    # If SIGCHLD is inherited as ignored, the kernel discards the exit codes of child processes.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with log_to_stderr():
        try:
            sys.exit(_exit_code(arguments))
        finally:
            # A last garbage collection would take a tenth of the time of `seamwise check`, and
            # seconds after a signal.
            gc.freeze()


def _exit_on_signal(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 -- signal's signature
    # SystemExit, so that a running command is killed by `finally` blocks.
    sys.exit(SIGNALLED + number)


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        code: object = seamwise.main(arguments, prog_name='seamwise', standalone_mode=False)
    except click.ClickException as error:
        write_usage_error(error)
        return error.exit_code
    except click.Abort:
        return report_exit(CommandExit('interrupted.', Exit.INTERRUPTED))
    except OSError as error:
        # Subcommands handle their own: this is a help page that cannot be written.
        return report_exit(stdout_error_exit(error))
    except Exception as defect:
        # `main` reports a missing package; this outermost seam reports every defect.
        if missing_package(defect):
            raise
        text = cli.defect(report_defect(defect).ref).text
        return report_exit(CommandExit(text, Exit.DEFECT))
    return code if isinstance(code, int) else Exit.OK
