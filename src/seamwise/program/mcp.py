"""`seamwise mcp`: the tools of a workspace for a client of MCP."""

import asyncio

import click
import msgspec

from seamwise.program.console import (
    Exit,
    Subcommand,
    missing_package_exit,
)
from seamwise.program.workspace_processor import ToolOptions, open_processor, tool_options

HELP = """\
Offer the tools of a workspace to a client of the Model Context Protocol (MCP).

The client starts this command, and talks to it over standard input and output. The command ends
when the client closes its standard input.

\b
Example of the configuration of a client:
  {"mcpServers": {"files": {
    "command": "seamwise",
    "args": ["mcp", "--workspace", "/home/me/project"]}}}

\b
Exit codes:
    0  the client has closed the connection
    2  the command was used incorrectly
   66  DIR or the guards file does not exist or cannot be read
   78  the guards file is invalid, or a package is missing
  130  interrupted (128 + N: ended by signal N)
"""


@click.command('mcp', cls=Subcommand, help=HELP)
@tool_options
@click.pass_context
def command(context: click.Context, /, **parameters: object) -> None:
    """Run the subcommand, and exit with its code."""
    context.exit(_serve(msgspec.convert(parameters, ToolOptions)))


def _serve(options: ToolOptions) -> Exit:
    # The seam of MCP logs each failure.
    processor = open_processor(options)
    try:
        # The tables of the model seam are slow to import, and no other subcommand needs them.
        from seamwise.toolhost.formats import TOOL_GUIDANCE  # noqa: PLC0415
        from seamwise.toolhost.mcp import serve  # noqa: PLC0415 -- the extra `mcp`
    except ModuleNotFoundError as error:
        raise missing_package_exit(error, 'mcp', extra='mcp') from error

    async def run() -> None:
        async with processor:
            await serve(processor, transport='stdio', model=TOOL_GUIDANCE)

    asyncio.run(run())
    return Exit.OK
