"""`seamwise check`: mistakes in error handling that a type checker accepts."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import click
from msgspec.structs import replace
from typing_extensions import override

from seamwise._results.containers import Failure, Result, Success
from seamwise._text.escaping import escape
from seamwise._text.phrases import join_quoted, pluralize
from seamwise.program.console import (
    Choice,
    CommandExit,
    Exit,
    Subcommand,
    did_you_mean,
    missing_package_exit,
    print_data,
    python_executable_option,
    std_stream,
    unread_exit,
    write_stderr,
)
from seamwise.seams.cli.environment import requested_style, terminal_width, wants_color
from seamwise.seams.cli.streams import encode_for_stream

if TYPE_CHECKING:
    from seamwise.check.checking import Report
    from seamwise.check.reports import Role
    from seamwise.check.settings import CheckSettings

    _ParamType = click.ParamType[tuple[str, ...]]
else:
    # It cannot be subscripted in click 8.2.
    _ParamType = click.ParamType

# Functions import `seamwise.check` themselves: it imports mypy, which takes half a second.

HELP = """\
Report mistakes that a type checker accepts: discarded results, exceptions next to an
error channel, handlers that swallow bugs.

PATH is a file or a folder. mypy infers the types, with its own configuration in the current
directory. The table [tool.seamwise.check] of pyproject.toml selects rules. The comment
"# seamwise: allow[SW101] reason" suppresses a finding.

\b
Formats:
  text    for people: with the source line, and the code underlined
  json    one object with all findings
  sarif   SARIF 2.1.0, for code scanners and editors
  github  annotations at the lines of a change

\b
Examples:
  seamwise check src
  seamwise check src --diff origin/main
  seamwise check src --write-baseline seamwise-baseline.json
  seamwise check src --baseline seamwise-baseline.json
  seamwise check src --adoption
  seamwise check src --fix
  seamwise check src --select SW101,SW103 --json
  seamwise check --explain SW101

\b
Exit codes:
    0  no findings, or hints only
    1  findings
    2  a file could not be read or analysed, or the command was used incorrectly
   66  PATH does not exist
   70  a defect: the log has details
   74  standard output cannot be written
   78  a package is missing
  130  interrupted (128 + N: ended by signal N)
  141  the reader of the output has ended
"""

SettingsLoader: TypeAlias = Callable[[Path], Result['CheckSettings', str]]
"""Returns the settings for a folder, or the reason why they are invalid."""

FORMATS = ('text', 'json', 'sarif', 'github')
COLORS: Mapping['Role', str] = MappingProxyType(
    {'place': 'cyan', 'error': 'red', 'warning': 'yellow', 'hint': 'blue', 'help': 'green'}
)


class _Codes(_ParamType):
    """Rule codes, separated by commas; case is ignored."""

    name = 'codes'

    @override
    def convert(
        self, value: str | tuple[str, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Split the value. The codes are checked later, because the registry imports mypy."""
        if isinstance(value, tuple):
            return value
        codes = tuple(code.strip().upper() for code in value.split(','))
        if not all(codes):
            self.fail(f'{value!r} must be codes separated by commas, e.g. SW101,SW103.', param, ctx)
        return codes


@click.command('check', cls=Subcommand, help=HELP)
@click.argument('paths', metavar='PATH…', nargs=-1)
@click.option('--format', 'form', type=Choice(FORMATS), help='Output format.  [default: text]')
@click.option('--json', 'as_json', is_flag=True, help='Same as --format json.')
@click.option(
    '--diff', 'base', metavar='BASE', help='Report only findings that BASE does not have.'
)
@click.option(
    '--select',
    metavar='CODES',
    type=_Codes(),
    default=(),
    help='Run only these rules, also if the configuration ignores them.',
)
@click.option(
    '--ignore',
    metavar='CODES',
    type=_Codes(),
    default=(),
    help='Ignore these rules, in addition to the configuration.',
)
@click.option(
    '--baseline',
    'baseline_file',
    metavar='FILE',
    type=click.Path(path_type=Path),
    help='Report only findings that FILE does not have.',
)
@click.option(
    '--write-baseline',
    'new_baseline_file',
    metavar='FILE',
    type=click.Path(path_type=Path),
    help='Write all findings to FILE, and report none.',
)
@click.option('--fix', is_flag=True, help='Apply safe fixes, and report the remaining findings.')
@click.option(
    '--whole',
    is_flag=True,
    help='Also run rules that need the whole program: PATH… are all its files.',
)
@python_executable_option
@click.option('--no-cache', is_flag=True, help='Neither read nor write the cache.')
@click.option(
    '--adoption',
    is_flag=True,
    help='Report how far PATH… is on the way from exceptions to error channels.',
)
@click.option(
    '--explain', metavar='CODE', help='Show the page of a rule, with an example and its fix.'
)
@click.pass_context
def command(  # noqa: PLR0913 -- one parameter per option
    context: click.Context,
    /,
    paths: Sequence[str],
    *,
    form: str | None,
    as_json: bool,
    base: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    baseline_file: Path | None,
    new_baseline_file: Path | None,
    fix: bool,
    whole: bool,
    python_executable: str | None,
    no_cache: bool,
    adoption: bool,
    explain: str | None,
) -> None:
    """Run the subcommand, and exit with its code."""
    if not paths and explain is None:
        raise click.UsageError('name a file or a folder, e.g. "seamwise check src".', context)
    if as_json and form not in {None, 'json'}:
        raise click.UsageError(f'--json cannot be combined with --format {form}.', context)
    is_plain = base is None and baseline_file is None and not fix
    if new_baseline_file is not None and not is_plain:
        raise click.UsageError(
            '--write-baseline cannot be combined with --baseline, --diff or --fix.', context
        )
    has_rules = select or ignore or whole or form in {'sarif', 'github'}
    if adoption and (has_rules or not is_plain or new_baseline_file is not None):
        raise click.UsageError(
            '--adoption can be combined with --json, --no-cache and --python-executable only.',
            context,
        )
    try:
        if explain is not None:
            _explain(explain, context)
            context.exit(Exit.OK)
        if adoption:
            load = _settings_loader((), (), python_executable)
            is_json = as_json or form == 'json'
            context.exit(_report_adoption(paths, load, as_json=is_json, no_cache=no_cache))
        load = _settings_loader(
            _checked_codes(select, '--select', context),
            _checked_codes(ignore, '--ignore', context),
            python_executable,
        )
        if not whole:
            _refuse_whole_program_rules(select, context)
        run = partial(
            _check if base is None else partial(_check_against, base),
            paths,
            load,
            whole=whole,
            no_cache=no_cache,
        )
        report = _run_with_baseline(run, baseline_file, new_baseline_file, fix=fix)
        context.exit(
            _print_report(report, 'json' if as_json else form or 'text', base or '', paths)
        )
    except ModuleNotFoundError as error:
        raise missing_package_exit(error, 'mypy', extra='check') from error
    except ImportError as error:
        raise unsupported_mypy_exit(error) from error


def unsupported_mypy_exit(error: ImportError) -> CommandExit:
    """Return the fatal error for a mypy that the check cannot use.

    Raises:
        ImportError: `error` itself, if it is not about mypy.
    """
    if (error.name or '').partition('.')[0] != 'mypy':
        raise error
    return CommandExit(f'this mypy cannot be used: {error}', Exit.MISCONFIGURED)


def _settings_loader(
    select: tuple[str, ...], ignore: tuple[str, ...], python_executable: str | None
) -> SettingsLoader:
    """Return a function that loads the settings of a folder; the command line overrides them."""
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415
    from seamwise.check.settings import load_settings  # noqa: PLC0415

    def load(folder: Path) -> Result['CheckSettings', str]:
        result = load_settings(folder, RULES)
        if isinstance(result, Failure):
            return result
        settings = result.unwrap()
        if select:
            settings = replace(settings, select=select, ignore=())
        if python_executable is not None:
            settings = replace(settings, python_executable=python_executable)
        return Success(replace(settings, ignore=(*settings.ignore, *ignore)))

    return load


def _print_report(report: 'Report', form: str, base: str, paths: Sequence[str]) -> Exit:
    from seamwise.check.reports import render_problem  # noqa: PLC0415

    # GitHub annotations contain the problems, and GitHub parses every other line for commands.
    for problem in () if form == 'github' else report.problems:
        write_stderr(f'seamwise: {render_problem(problem)}')
    print_data(_render(report, form, base))
    if not report.is_complete:
        return unread_exit(paths)
    has_findings = any(finding.severity != 'hint' for finding in report.findings)
    return Exit.FAILED if has_findings else Exit.OK


def _report_adoption(
    paths: Sequence[str], load: SettingsLoader, *, as_json: bool, no_cache: bool
) -> Exit:
    from seamwise.check.adoption import render, report_cache  # noqa: PLC0415
    from seamwise.check.reports import render_problem  # noqa: PLC0415

    settings = load(Path.cwd())
    if isinstance(settings, Failure):
        raise CommandExit(settings.failure(), Exit.USAGE)
    adoption = report_cache.cached_adoption_report(
        tuple(paths), settings.unwrap(), no_cache=no_cache
    )
    for problem in adoption.problems:
        write_stderr(f'seamwise: {render_problem(problem)}')
    stdout = std_stream('stdout')
    if as_json:
        print_data(render.render_adoption_json(adoption))
    elif stdout is not None:
        print_data(encode_for_stream(render.render_adoption_text(adoption), stdout))
    return Exit.OK if adoption.is_complete else unread_exit(paths)


def _apply_fixes(run: Callable[[], 'Report']) -> 'Report':
    """Apply all safe fixes, and return the report on the remaining findings."""
    from seamwise.check.fixing.repeated_fixes import fix_all  # noqa: PLC0415

    try:
        summary = fix_all(run)
    except OSError as error:
        raise CommandExit(
            f'--fix: cannot write {escape(str(error.filename))}: {error.strerror}.', Exit.USAGE
        ) from error
    findings, files = pluralize(summary.fixed, 'finding'), pluralize(len(summary.paths), 'file')
    write_stderr(f'seamwise: fixed {findings} in {files}.')
    for rejected in summary.rejected:
        finding = rejected.finding
        write_stderr(
            f'seamwise: {escape(finding.path)}:{finding.line}: the fix of {finding.code} would'
            f' {rejected.reason}, so it is not applied.'
        )
    return summary.report


def _run_with_baseline(
    run: Callable[[], 'Report'], known: Path | None, new: Path | None, *, fix: bool
) -> 'Report':
    """Check, without the findings of the file `known`, or write all findings to the file `new`."""
    if known is not None:
        run = partial(_check_against_file, known, run)
    report = _apply_fixes(run) if fix else run()
    return report if new is None else _write_baseline(new, report)


def _check_against_file(file: Path, run: Callable[[], 'Report']) -> 'Report':
    """Return the findings that a baseline file does not have."""
    from seamwise.check.comparison.baseline import read_baseline, without_baseline  # noqa: PLC0415

    result = read_baseline(file)
    if isinstance(result, Failure):
        raise CommandExit(f'--baseline: {escape(result.failure())}', Exit.USAGE)
    report = run()
    return replace(report, findings=without_baseline(report.findings, result.unwrap(), file))


def _write_baseline(file: Path, report: 'Report') -> 'Report':
    """Write all findings to a baseline file, and return the report without them."""
    from seamwise.check.comparison.baseline import write_baseline  # noqa: PLC0415

    try:
        count = write_baseline(file, report.findings)
    except OSError as error:
        raise CommandExit(
            f'--write-baseline: cannot write {escape(str(file))}: {error.strerror}.', Exit.USAGE
        ) from error
    write_stderr(f'seamwise: wrote {pluralize(count, "finding")} to {escape(str(file))}.')
    return replace(report, findings=())


def _check(paths: Sequence[str], load: SettingsLoader, *, whole: bool, no_cache: bool) -> 'Report':
    from seamwise.check.checking import run_check  # noqa: PLC0415

    settings = load(Path.cwd())
    if isinstance(settings, Failure):
        raise CommandExit(settings.failure(), Exit.USAGE)
    return run_check(paths, settings.unwrap(), whole=whole, no_cache=no_cache)


def _check_against(
    base: str, paths: Sequence[str], load: SettingsLoader, *, whole: bool, no_cache: bool
) -> 'Report':
    """Return the findings that the commit `base` does not have."""
    from seamwise.check.comparison.diff import new_findings  # noqa: PLC0415
    from seamwise.check.reports import render_problem  # noqa: PLC0415

    result = new_findings(paths, base, load, whole=whole, no_cache=no_cache)
    if isinstance(result, Failure):
        raise CommandExit(f'--diff: {result.failure()}', Exit.USAGE)
    comparison = result.unwrap()
    for problem in comparison.problems:
        if problem.is_unread:
            write_stderr(
                f'seamwise: in {escape(base)}: {render_problem(problem)} '
                'All findings in it now count as new.'
            )
    return comparison.report


def _render(report: 'Report', form: str, base: str) -> str | bytes:
    from seamwise.check import reports  # noqa: PLC0415

    match form:
        case 'json':
            return reports.render_json(report)
        case 'sarif':
            return reports.render_sarif(report)
        case 'github':
            return reports.render_github(report, since=base).encode(errors='backslashreplace')
        case _:
            stdout = std_stream('stdout')
            if stdout is None:
                return ''
            style = reports.ReportStyle(
                paint=_paint if wants_color(stdout) else reports.no_paint,
                width=terminal_width(stdout),
                has_carets=requested_style() != 'screen-reader',
            )
            return encode_for_stream(reports.render_report(report, style, since=base), stdout)


def _checked_codes(codes: tuple[str, ...], option: str, context: click.Context) -> tuple[str, ...]:
    """Return rule codes of an option; an unknown one is a usage error."""
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415

    unknown = next((code for code in codes if code not in RULES), None)
    if unknown is None:
        return codes
    known = tuple(RULES)
    suggestion = did_you_mean(unknown, known) or f' There are {join_quoted(known, last="and")}.'
    raise click.BadParameter(
        f'there is no rule {unknown!r}.{suggestion}', context, param_hint=f"'{option}'"
    )


def _refuse_whole_program_rules(select: tuple[str, ...], context: click.Context) -> None:
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415

    code = next((code for code in select if RULES[code].needs_whole_program), None)
    if code is not None:
        raise click.UsageError(
            f'{code} needs all files of the program: add --whole if PATH… are all of them.', context
        )


def _explain(word: str, context: click.Context) -> None:
    from seamwise.check.rules.registry import RULES  # noqa: PLC0415

    (code,) = _checked_codes((word.strip().upper(),), '--explain', context)
    print_data(RULES[code].page)


def _paint(text: str, role: 'Role') -> str:
    return click.style(text, fg=COLORS[role], bold=True)
