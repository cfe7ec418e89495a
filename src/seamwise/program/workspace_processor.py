"""Options of `seamwise serve` and `seamwise mcp`: a workspace, its tools, and their guards."""

from collections.abc import Callable, Mapping
from math import isnan
from typing import Final, TypeVar

import click
from msgspec import Struct

from seamwise.catalog.tools import ToolError
from seamwise.policies import Guard, GuardError
from seamwise.program.console import did_you_mean
from seamwise.program.guards_option import load_guards
from seamwise.program.workspace_option import open_workspace
from seamwise.toolhost.builtin import workspace_tools
from seamwise.toolhost.outcome import ToolOutcome
from seamwise.toolhost.processor import Processor
from seamwise.toolhost.tools import Tools

C = TypeVar('C', bound=Callable[..., object])

COMMAND_TOOL: Final = 'execute_command'
CONCURRENCY: Final = 20
GRACE: Final = 5.0
"""In seconds: the time for running calls at the end of the program."""


class ToolOptions(Struct, frozen=True, kw_only=True):
    """The options of `tool_options`."""

    workspace: str
    tools: str | None
    no_commands: bool
    guards: str | None
    timeout: float


def _check_seconds(context: click.Context, parameter: click.Parameter, value: float) -> float:
    """Return a number of seconds; a range does not exclude NaN."""
    if isnan(value):
        raise click.BadParameter('it is not a number.', context, parameter)
    return value


def tool_options(command: C) -> C:
    """Add the options that select a workspace and its tools to a command."""
    options = [
        click.option(
            '--workspace',
            required=True,
            metavar='DIR',
            help='The folder in which the calls work.',
        ),
        click.option(
            '--tools', metavar='NAME,…', help='Offer these tools only.  [default: all of them]'
        ),
        click.option('--no-commands', is_flag=True, help=f'Do not offer {COMMAND_TOOL}.'),
        click.option('--guards', metavar='FILE', help='Guards around the tools, in TOML.'),
        click.option(
            '--timeout',
            default=120.0,
            show_default=True,
            type=click.FloatRange(min=0.1, max=3600),
            callback=_check_seconds,
            metavar='SECONDS',
            help='The maximum time of a call.',
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def open_processor(
    options: ToolOptions, *, on_outcome: Callable[[ToolOutcome[ToolError]], object] | None = None
) -> Processor[ToolError]:
    """Return a processor for the tools of a workspace.

    Args:
        options: The options.
        on_outcome: Called with each outcome.

    Raises:
        CommandExit: The workspace or the guards file cannot be read, or the guards are invalid.
        click.BadParameter: A name is not that of a tool, or no tool is left.
    """
    tools = workspace_tools(open_workspace(options.workspace))
    offered = _offered(tools, options)
    guards: Mapping[str, Guard[GuardError]] = {}
    if options.guards is not None:
        # The file may have guards of tools that are left out.
        every_guard = load_guards(options.guards, tools)
        guards = {name: every_guard[name] for name in offered.names if name in every_guard}
    return Processor(
        offered,
        guards=guards,
        timeout=options.timeout,
        concurrency=CONCURRENCY,
        # Each tool of a workspace blocks a thread.
        threads=CONCURRENCY,
        grace=GRACE,
        on_outcome=on_outcome,
    )


def _offered(tools: Tools[ToolError], options: ToolOptions) -> Tools[ToolError]:
    names = [*tools.names]
    if options.tools is not None:
        names = [name.strip() for name in options.tools.split(',')]
        for name in names:
            if name not in tools.names:
                raise click.BadParameter(
                    f'{name!r} is no tool; the tools are {", ".join(tools.names)}.'
                    f'{did_you_mean(name, tools.names)}',
                    param_hint="'--tools'",
                )
    if options.no_commands:
        names = [name for name in names if name != COMMAND_TOOL]
    if not names:
        raise click.UsageError(f'No tool is left: --no-commands excludes {COMMAND_TOOL}.')
    return Tools([tool for tool in tools if tool.name in names])
