"""`seamwise serve`: the tools of a workspace over HTTP."""

import logging
import secrets
import signal

import click
import msgspec
from msgspec import Struct

from seamwise._text.secrets import Secret
from seamwise.catalog.tools import ToolError
from seamwise.program.console import (
    SIGNALLED,
    CommandExit,
    Exit,
    Subcommand,
    log_to_stderr,
    missing_package_exit,
    print_data,
    write_stderr,
)
from seamwise.program.listener import Address, listen, resolve
from seamwise.program.page_outputs import page_outputs
from seamwise.program.token_file import read_token
from seamwise.program.workspace_processor import GRACE, ToolOptions, open_processor, tool_options
from seamwise.seams.log import outcomes
from seamwise.toolhost.processor import Processor

HELP = """\
Offer the tools of a workspace over HTTP.

POST the output of a model to /v1/calls: the calls in it run, and the response contains an
outcome for each one. Every request needs the token in the header "Authorization: Bearer TOKEN".
Without --token-file, a new token is made, and the address is printed with the token behind "#".

The tools have the permissions of the user who runs the program. Anyone with the token can run
any command, unless --no-commands leaves out execute_command.

\b
Example:
  seamwise serve --workspace examples/workspace --token-file token.txt &
  curl http://127.0.0.1:8642/v1/calls \\
      --header "Authorization: Bearer $(cat token.txt)" \\
      --json '{"tool": "list_files", "arguments": {}}'

\b
Exit codes:
    0  stopped by SIGTERM, after the running calls have ended
    2  the command was used incorrectly
   66  DIR or a file does not exist or cannot be read
   69  the address cannot be used, e.g. because the port is in use
   74  the address cannot be written to standard output
   78  the token file or the guards file is invalid, or a package is missing
  130  interrupted, after the running calls have ended
"""


class ServeOptions(Struct, frozen=True, kw_only=True):
    """The options of the server itself."""

    host: str
    port: int
    token_file: str | None


@click.command('serve', cls=Subcommand, help=HELP)
@tool_options
@click.option('--host', default='127.0.0.1', show_default=True, help='The address to listen on.')
@click.option(
    '--port',
    default=8642,
    show_default=True,
    type=click.IntRange(0, 65535),
    help='The port; 0: any free one.',
)
@click.option('--token-file', metavar='FILE', help='The file with the token of the clients.')
@click.pass_context
def command(context: click.Context, /, **parameters: object) -> None:
    """Run the subcommand, and exit with its code."""
    options = msgspec.convert(parameters, ServeOptions)
    context.exit(_serve(options, msgspec.convert(parameters, ToolOptions)))


def _serve(options: ServeOptions, tools: ToolOptions) -> int:
    address = resolve(options.host)
    if not address.is_loopback and options.token_file is None:
        raise click.UsageError(
            f'--host {options.host!r} can be reached from other machines, and needs --token-file.'
        )
    processor = open_processor(tools, on_outcome=outcomes(logging.getLogger('seamwise')))
    token = None if options.token_file is None else read_token(options.token_file)
    return _run(processor, address, options.port, token)


def _run(processor: Processor[ToolError], address: Address, port: int, token: str | None) -> int:
    try:
        from seamwise.toolhost.server import create_app  # noqa: PLC0415 -- all four: the extra `serve`
        from seamwise.toolhost.server.access import Access, OwnHosts  # noqa: PLC0415
        from seamwise.toolhost.server.live_app import LivePage  # noqa: PLC0415
        from seamwise.toolhost.server.uvicorn_server import Server  # noqa: PLC0415
    except ImportError as error:
        raise _missing_package_exit(error) from error
    secret = token or secrets.token_urlsafe(32)
    hosts = OwnHosts.of(address.names, has_every_address=address.is_unspecified)
    app = create_app(processor, access=Access(Secret(secret), hosts), page=LivePage(page_outputs))
    with listen(address, port) as listener, log_to_stderr('uvicorn'):
        url = address.url(listener.getsockname()[1])
        # A token of the caller's own is not shown: a log may keep the output.
        print_data(f'{url}#{secret}' if token is None else url)
        write_stderr(f'seamwise: serving {len(processor.tools)} tools; stop with Ctrl-C.')
        number = Server(app, processor, grace=GRACE).run_on(listener)
    if number == signal.SIGINT:
        raise CommandExit('interrupted.', Exit.INTERRUPTED)
    return Exit.OK if number in {None, signal.SIGTERM} else SIGNALLED + (number or 0)


def _missing_package_exit(error: ImportError) -> CommandExit:
    """Return the fatal error for a missing package of the extra `serve`.

    Raises:
        ImportError: `error` itself, if something else is missing.
    """
    # An error with advice for programmers has the original one as its cause.
    missing = error if error.name else error.__cause__
    if not isinstance(missing, ModuleNotFoundError):
        raise error
    module = (missing.name or '').partition('.')[0]
    package = module if module in {'jwt', 'uvicorn', 'websockets'} else 'starlette'
    return missing_package_exit(missing, package, extra='serve')
