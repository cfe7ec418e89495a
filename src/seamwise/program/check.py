"""`seamwise check`: what a type checker lets through, by file and line."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import click
from msgspec.structs import replace
from typing_extensions import override

from seamwise._close_matches import close_matches
from seamwise._text.escaping import escape
from seamwise._text.phrases import join_quoted, pluralize
from seamwise.containers import Failure, Result, Success
from seamwise.program.choices import Choice
from seamwise.program.exit_errors import CommandExit, report_exit
from seamwise.program.exits import Exit
from seamwise.program.printing import print_data
from seamwise.program.streams import say, standard
from seamwise.seams.cli.report import encode_for_stream
from seamwise.seams.cli.style import requested_style, terminal_width, wants_color

if TYPE_CHECKING:
    from seamwise.check.checking import Report
    from seamwise.check.reports import Role
    from seamwise.check.settings import CheckSettings

HELP = """\
Report what a type checker lets through: Results thrown away, exceptions beside a channel, handlers that swallow defects.

PATH is a file or a folder. mypy infers the types, as its own configuration in the current directory says; the table
[tool.seamwise.check] of pyproject.toml selects rules. A comment "# seamwise: allow[SW101] reason" allows one place.

\b
Formats:
  text    for a person: with the line of source, and what is meant there underlined
  json    one object with all findings
  sarif   SARIF 2.1.0, for code scanners and editors
  github  annotations, which GitHub shows at the lines of a change

\b
Examples:
  seamwise check src
  seamwise check src --diff origin/main
  seamwise check src --adoption
  seamwise check src --fix
  seamwise check src --select SW101,SW103 --json
  seamwise check --explain SW101

\b
Exit codes:
    0  nothing was found, or hints only
    1  something was found
    2  something could not be read or analysed, or the command was used wrongly
   70  a defect: the log says more
   74  standard output cannot be written
   78  a package is missing that the command needs
  130  it was interrupted
  141  the output has no reader any more
"""

Ask: TypeAlias = Callable[[Path], Result['CheckSettings', str]]
"""Gives the settings that count in a folder."""

FORMATS = ('text', 'json', 'sarif', 'github')
COLORS: Mapping['Role', str] = MappingProxyType(
    {'place': 'cyan', 'error': 'red', 'warning': 'yellow', 'hint': 'blue', 'help': 'green'}
)


class _Codes(click.ParamType[tuple[str, ...]]):
    """Codes of rules with commas between them, in upper or lower case."""

    name = 'codes'

    @override
    def convert(
        self, value: str | tuple[str, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Take them apart; which codes there are, only mypy's own user knows."""
        if isinstance(value, tuple):
            return value
        found = tuple(one.strip().upper() for one in value.split(','))
        if not all(found):
            self.fail(
                f'{value!r} is no list of codes with commas between them, as in SW101,SW103.',
                param,
                ctx,
            )
        return found


@click.command(help=HELP, short_help='Report what a type checker lets through.')
@click.argument('paths', metavar='PATH…', nargs=-1)
@click.option('--format', 'form', type=Choice(FORMATS), help='What to report as.  [default: text]')
@click.option('--json', 'as_json', is_flag=True, help='The same as --format json.')
@click.option(
    '--diff',
    'base',
    metavar='BASE',
    help='Report only what the commit BASE had not: what the change since then brings.',
)
@click.option(
    '--select',
    metavar='CODES',
    type=_Codes(),
    default=(),
    help='Ask these rules only, whatever the configuration says.',
)
@click.option(
    '--ignore',
    metavar='CODES',
    type=_Codes(),
    default=(),
    help='Do not ask these rules, beside those that the configuration ignores.',
)
@click.option(
    '--fix',
    is_flag=True,
    help='Mend what can be mended safely, in the files, and report what is left.',
)
@click.option(
    '--whole',
    is_flag=True,
    help='Ask also the rules that must see all files of a program: PATH… are all of them.',
)
@click.option(
    '--no-cache', is_flag=True, help='Read every file again, and keep nothing for the next time.'
)
@click.option(
    '--adoption',
    is_flag=True,
    help='Tell how far PATH… is from exceptions to channels, and what would change first.',
)
@click.option(
    '--explain',
    metavar='CODE',
    help='Show the page of a rule, with an example that fails and the same mended.',
)
@click.pass_context
def check(  # noqa: PLR0913 -- one for each option
    context: click.Context,
    /,
    paths: Sequence[str],
    *,
    form: str | None,
    as_json: bool,
    base: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fix: bool,
    whole: bool,
    no_cache: bool,
    adoption: bool,
    explain: str | None,
) -> None:
    """Run the command, and end with its exit code."""
    if not paths and explain is None:
        raise click.UsageError(
            'name a file or a folder to check, as in "seamwise check src".', context
        )
    if as_json and form not in {None, 'json'}:
        raise click.UsageError(
            f'--json is the same as --format json, and says otherwise than --format {form}.',
            context,
        )
    if adoption and (
        base is not None or select or ignore or fix or whole or form in {'sarif', 'github'}
    ):
        raise click.UsageError(
            '--adoption asks no rule and mends nothing; it goes with --json.', context
        )
    try:
        if explain is not None:
            _explain(explain, context)
            context.exit(Exit.OK)
        if adoption:
            context.exit(_adoption(paths, as_json=as_json or form == 'json'))
        ask = _asking(_known(select, '--select', context), _known(ignore, '--ignore', context))
        if not whole:
            _refuse_of_whole(select, context)
        look = partial(
            _now if base is None else partial(_since, base),
            paths,
            ask,
            whole=whole,
            no_cache=no_cache,
        )
        report = _mended(look) if fix else look()
        context.exit(_report(report, 'json' if as_json else form or 'text', base or ''))
    except CommandExit as ended:
        context.exit(report_exit(ended))
    except ModuleNotFoundError as missing:
        if (missing.name or '').partition('.')[0] != 'mypy':
            raise
        context.exit(
            report_exit(
                CommandExit(
                    "the command needs mypy, which is not installed; get it by: pip install 'seamwise[check]'",
                    Exit.MISCONFIGURED,
                )
            )
        )


def _asking(select: tuple[str, ...], ignore: tuple[str, ...]) -> Ask:
    """Give the settings of a folder, overruled by the command line: what is selected there is asked, whatever a file ignores."""
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415
    from seamwise.check.settings import load_settings  # noqa: PLC0415

    def ask(folder: Path) -> Result['CheckSettings', str]:
        found = load_settings(folder, RULES)
        if isinstance(found, Failure):
            return found
        own = found.unwrap()
        if select:
            own = replace(own, select=select, ignore=())
        return Success(replace(own, ignore=(*own.ignore, *ignore)))

    return ask


def _report(report: 'Report', form: str, since: str) -> Exit:
    # Not before it is asked for: mypy takes half a second.
    from seamwise.check.reports import render_problem  # noqa: PLC0415

    # Annotations have them too, and GitHub looks for commands in every line that it is not told is none.
    for problem in () if form == 'github' else report.problems:
        say(f'seamwise: {render_problem(problem)}')
    print_data(_shown(report, form, since))
    if not report.is_complete:
        return Exit.USAGE
    return Exit.FAILED if any(one.severity != 'hint' for one in report.findings) else Exit.OK


def _adoption(paths: Sequence[str], *, as_json: bool) -> Exit:
    from seamwise.check.adoption import render, report  # noqa: PLC0415
    from seamwise.check.reports import render_problem  # noqa: PLC0415

    found = report.adoption_report(paths)
    for problem in found.problems:
        say(f'seamwise: {render_problem(problem)}')
    stdout = standard('stdout')
    print_data(
        render.render_adoption_json(found)
        if as_json
        else encode_for_stream(render.render_adoption_text(found), stdout)
        if stdout is not None
        else ''
    )
    return Exit.OK if found.is_complete else Exit.USAGE


def _mended(look: Callable[[], 'Report']) -> 'Report':
    """Mend until nothing is left that can be: an exact channel may show that the one of its caller is too wide."""
    from seamwise.check.fixes import apply_fixes  # noqa: PLC0415 -- it imports mypy

    count, paths = 0, set[str]()
    while True:
        report = look()
        try:
            mended = apply_fixes(report.findings)
        except OSError as refused:
            raise CommandExit(
                f'--fix: {escape(str(refused.filename))} cannot be written: {refused.strerror}.',
                Exit.USAGE,
            ) from refused
        if not mended:
            break
        count += len(mended)
        paths |= {one.path for one in mended}
    say(f'seamwise: {pluralize(count, "finding")} mended in {pluralize(len(paths), "file")}.')
    return report


def _now(paths: Sequence[str], ask: Ask, *, whole: bool, no_cache: bool) -> 'Report':
    from seamwise.check.checking import run_check  # noqa: PLC0415

    asked = ask(Path.cwd())
    if isinstance(asked, Failure):
        raise CommandExit(asked.failure(), Exit.USAGE)
    return run_check(paths, asked.unwrap(), whole=whole, no_cache=no_cache)


def _since(base: str, paths: Sequence[str], ask: Ask, *, whole: bool, no_cache: bool) -> 'Report':
    from seamwise.check.diff import new_findings  # noqa: PLC0415
    from seamwise.check.reports import render_problem  # noqa: PLC0415

    found = new_findings(paths, base, ask, whole=whole, no_cache=no_cache)
    if isinstance(found, Failure):
        raise CommandExit(f'--diff: {found.failure()}', Exit.USAGE)
    comparison = found.unwrap()
    for problem in comparison.problems:
        if problem.is_unread:
            say(
                f'seamwise: in {escape(base)}: {render_problem(problem)} What is found there now counts as new.'
            )
    return comparison.report


def _shown(report: 'Report', form: str, since: str) -> str | bytes:
    from seamwise.check import reports  # noqa: PLC0415

    match form:
        case 'json':
            return reports.render_json(report)
        case 'sarif':
            return reports.render_sarif(report)
        case 'github':
            return reports.render_github(report, since=since).encode(errors='backslashreplace')
        case _:
            stdout = standard('stdout')
            if stdout is None:
                return ''
            look = reports.ReportStyle(
                paint=_painted if wants_color(stdout) else reports.no_paint,
                width=terminal_width(stdout),
                has_carets=requested_style() != 'screen-reader',
            )
            return encode_for_stream(reports.render_text(report, look, since=since), stdout)


def _known(codes: tuple[str, ...], option: str, context: click.Context) -> tuple[str, ...]:
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415 -- it imports mypy

    unknown = next((one for one in codes if one not in RULES), None)
    if unknown is None:
        return codes
    found = close_matches(unknown, tuple(RULES))
    meant = (
        f'Did you mean {join_quoted(found)}?'
        if found
        else f'There are {join_quoted(RULES, last="and")}.'
    )
    raise click.BadParameter(
        f'there is no rule {unknown!r}. {meant}', context, param_hint=f"'{option}'"
    )


def _refuse_of_whole(select: tuple[str, ...], context: click.Context) -> None:
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415 -- it imports mypy

    found = next((one for one in select if RULES[one].needs_whole_program), None)
    if found is not None:
        raise click.UsageError(
            f'{found} must see all files of a program; --whole says that PATH… are all of them.',
            context,
        )


def _explain(code: str, context: click.Context) -> None:
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415 -- it imports mypy

    (known,) = _known((code.strip().upper(),), '--explain', context)
    print_data(RULES[known].page)


def _painted(text: str, role: 'Role') -> str:
    return click.style(text, fg=COLORS[role], bold=True)
