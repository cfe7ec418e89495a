"""`seamwise lsp`: the findings of `seamwise check` in an editor."""

from collections.abc import Sequence

import click

from seamwise.program.check import unsupported_mypy_exit
from seamwise.program.console import (
    Exit,
    Subcommand,
    missing_package_exit,
    python_executable_option,
)

HELP = """\
Show the findings of `seamwise check` in an editor, over the Language Server Protocol.

The editor starts this command, and talks to it over standard input and output. Saved files are
checked, with the configuration in the folder that is open. PATH is a file or a folder in it; by
default, everything is checked.

\b
Exit codes:
    0  the editor has closed the connection
    2  the command was used incorrectly
   78  a package is missing
  130  interrupted
"""


@click.command('lsp', cls=Subcommand, help=HELP)
@click.argument('paths', metavar='[PATH…]', nargs=-1)
@python_executable_option
@click.pass_context
def command(
    context: click.Context, /, paths: Sequence[str], *, python_executable: str | None
) -> None:
    """Run the subcommand, and exit with its code."""
    context.exit(_serve(paths or ('.',), python_executable or ''))


def _serve(paths: Sequence[str], python_executable: str) -> Exit:
    try:
        from seamwise.check.lsp.server import create_server  # noqa: PLC0415 -- the extra `lsp`
    except ModuleNotFoundError as error:
        package = 'mypy' if (error.name or '').partition('.')[0] == 'mypy' else 'pygls'
        if (error.name or '').partition('.')[0] == 'lsprotocol':
            package = 'lsprotocol'
        raise missing_package_exit(error, package, extra='lsp') from error
    except ImportError as error:
        raise unsupported_mypy_exit(error) from error
    create_server(paths, python_executable).start_io()
    return Exit.OK
