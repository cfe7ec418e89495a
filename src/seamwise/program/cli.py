"""The group of all subcommands, and how the process ends."""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click

from seamwise._text.phrases import join_quoted
from seamwise.defects import report_defect
from seamwise.program.catalog import catalog
from seamwise.program.check import check
from seamwise.program.exit_errors import CommandExit, report_exit, stdout_error_exit
from seamwise.program.exits import SIGNALLED, Exit
from seamwise.program.explain import explain
from seamwise.program.logs import log_to_stderr
from seamwise.program.map import map_
from seamwise.program.run import run
from seamwise.program.streams import say_usage
from seamwise.seams import cli
from seamwise.seams.cli.style import STYLE_VARIABLE, STYLES

HELP = """\
Typed failures inside, one shape per seam outside.

Texts are coloured on a terminal only, and never with NO_COLOR. The environment may ask for less:

\b
SEAMWISE_STYLE=plain          no escape sequence at all, and no progress
SEAMWISE_STYLE=screen-reader  the same, no broken lines and no carets
"""


@click.group(help=HELP, context_settings={'help_option_names': ['-h', '--help']})
@click.version_option(package_name='seamwise', prog_name='seamwise', message='%(prog)s %(version)s')
def seamwise() -> None:
    """Run a subcommand, unless the environment asks for a style that there is not."""
    asked = os.environ.get(STYLE_VARIABLE)
    if asked and asked not in STYLES:
        raise click.UsageError(f'{STYLE_VARIABLE} is one of {join_quoted(STYLES)}, not {asked!r}.')


for command in (run, explain, catalog, check, map_):
    seamwise.add_command(command)


def start(arguments: Sequence[str]) -> NoReturn:
    """Run the command with its arguments, and end the process with its exit code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Ignored is what nohup(1) asks for.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    # Inherited as ignored, it would cost every command that a tool runs its exit code.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with log_to_stderr():
        code = _exit_code(arguments)
        # To look for garbage in all that a check has left would take a tenth of its time, and the process ends here.
        gc.freeze()
        sys.exit(code)


def _stop(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 -- how Python calls it
    # As an exception, so that a running command is killed on the way out.
    sys.exit(SIGNALLED + number)


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        code: object = seamwise.main(arguments, prog_name='seamwise', standalone_mode=False)
    except click.ClickException as usage:
        say_usage(usage)
        return usage.exit_code
    except click.Abort:
        return report_exit(CommandExit('interrupted.', Exit.INTERRUPTED))
    except OSError as raised:
        # Subcommands have an answer of their own: this is a help page that cannot be written.
        return report_exit(stdout_error_exit(raised))
    except Exception as defect:  # noqa: BLE001 -- the outermost seam: reported here, once, and nothing of it shown
        return report_exit(CommandExit(cli.defect(report_defect(defect).ref).text, Exit.DEFECT))
    return code if isinstance(code, int) else Exit.OK
