"""`seamwise check`: what a type checker lets through, by file and line."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from seamwise.containers import Failure
from seamwise.program.ending import Ended, shown
from seamwise.program.exits import Exit
from seamwise.program.printing import print_data
from seamwise.program.streams import say
from seamwise.seams.cli.style import wants_color

HELP = """\
Report what a type checker lets through: Results thrown away, exceptions beside a channel, handlers that swallow defects.

PATH is a file or a folder. mypy infers the types, as its own configuration in the current directory says; the table
[tool.seamwise.check] of pyproject.toml selects rules. A comment "# seamwise: allow[SW101] reason" allows one place.

\b
Examples:
  seamwise check src
  seamwise check src --json
  seamwise check --explain SW101

\b
Exit codes:
    0  nothing was found
    1  something was found
    2  something could not be read or analysed, or the command was used wrongly
   70  a defect: the log says more
   74  standard output cannot be written
   78  a package is missing that the command needs
  141  the output has no reader any more
"""

COLORS = {'place': 'cyan', 'code': 'red', 'caret': 'red', 'help': 'green'}


@click.command(help=HELP, short_help='Report what a type checker lets through.')
@click.argument('paths', metavar='PATH…', nargs=-1)
@click.option('--json', 'as_json', is_flag=True, help='One JSON object with all findings.')
@click.option('--explain', metavar='CODE', help='Show the page of a rule, with an example that fails and the same mended.')
@click.pass_context
def check(context: click.Context, /, paths: Sequence[str], explain: str | None, *, as_json: bool) -> None:
    """Run the command, and end with its exit code."""
    if not paths and explain is None:
        raise click.UsageError('name a file or a folder to check, as in "seamwise check src".', context)
    try:
        context.exit(_check(paths, as_json=as_json) if explain is None else _explain(explain, context))
    except Ended as ended:
        context.exit(shown(ended))
    except ModuleNotFoundError as missing:
        if (missing.name or '').partition('.')[0] != 'mypy':
            raise
        context.exit(
            shown(Ended("the command needs mypy, which is not installed; get it by: pip install 'seamwise[check]'", Exit.MISCONFIGURED))
        )


def _check(paths: Sequence[str], *, as_json: bool) -> Exit:
    # Not before it is asked for: mypy takes half a second.
    from seamwise.check import checking, reports  # noqa: PLC0415
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415
    from seamwise.check.settings import settings  # noqa: PLC0415

    asked = settings(Path.cwd(), RULES)
    if isinstance(asked, Failure):
        raise Ended(asked.failure(), Exit.USAGE)
    report = checking.check(paths, asked.unwrap())
    for problem in report.problems:
        say(f'seamwise: {reports.as_line(problem)}')
    paint = _painted if wants_color(sys.stdout) else reports.plain
    print_data(reports.as_json(report) if as_json else reports.as_text(report, paint))
    if not report.is_complete:
        return Exit.USAGE
    return Exit.FAILED if report.findings else Exit.OK


def _explain(code: str, context: click.Context) -> Exit:
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415 -- it imports mypy

    rule = RULES.get(code.upper())
    if rule is None:
        raise click.BadParameter(f'there is no rule {code!r}; there are {", ".join(RULES)}.', context, param_hint="'--explain'")
    print_data(rule.page)
    return Exit.OK


def _painted(text: str, role: str) -> str:
    return click.style(text, fg=COLORS[role], bold=True)
