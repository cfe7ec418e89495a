"""`seamwise migrate`: from exceptions to Results."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from seamwise._results.containers import Failure
from seamwise._text.escaping import escape
from seamwise._text.phrases import pluralize
from seamwise.program.check import unsupported_mypy_exit
from seamwise.program.console import (
    CommandExit,
    Exit,
    Subcommand,
    missing_package_exit,
    print_data,
    print_text,
    python_executable_option,
    std_stream,
    write_stderr,
)

if TYPE_CHECKING:
    from seamwise.check.migrate.migration import Migration, Selection

HELP = """\
Rewrite code that raises its own exceptions, so that it returns Results.

Exception classes become tagged errors, functions that raise them return a Result, handlers become
matches. What cannot be converted without a change of behaviour is left as it is, and listed. mypy
checks the result; all files are written or none. git undoes it.

PATH is a file or a folder: all code that uses the exceptions.

\b
Examples:
  seamwise migrate src --all --diff
  seamwise migrate src --all
  seamwise migrate src --step 1
  seamwise migrate src --function shop.orders.place
  seamwise migrate src --all --keep public

\b
Exit codes:
    0  written, or nothing to write
    1  a file cannot be written, has uncommitted changes, or is used outside PATH
    2  a file could not be read or analysed, or the command was used incorrectly
   78  a package is missing
  130  interrupted
"""

_INTERVAL = 5.0
"""Seconds between two lines about the progress where no terminal shows them."""


@click.command('migrate', cls=Subcommand, help=HELP)
@click.argument('paths', metavar='PATH…', nargs=-1, required=True)
@click.option('--all', 'is_all', is_flag=True, help='Convert everything that can be converted.')
@click.option(
    '--function', 'functions', metavar='NAME', multiple=True, help='Convert this function.'
)
@click.option(
    '--step',
    metavar='N',
    type=click.IntRange(min=1),
    help='Convert the exception of a step of `seamwise check --adoption`.',
)
@click.option(
    '--keep',
    metavar='NAME',
    multiple=True,
    help='Keep this function and its exceptions for callers outside PATH, beside one that returns '
    'a Result; `public` for all functions whose names have no underscore.',
)
@click.option(
    '--suffix',
    metavar='TEXT',
    default='_result',
    show_default=True,
    help='End of the names of the functions beside the kept ones.',
)
@click.option('--diff', 'is_diff', is_flag=True, help='Write nothing, and print a patch.')
@click.option('--force', is_flag=True, help='Also change files with uncommitted changes.')
@python_executable_option
@click.pass_context
def command(  # noqa: PLR0913 -- one parameter per option
    context: click.Context,
    /,
    paths: Sequence[str],
    *,
    is_all: bool,
    functions: tuple[str, ...],
    step: int | None,
    keep: tuple[str, ...],
    suffix: str,
    is_diff: bool,
    force: bool,
    python_executable: str | None,
) -> None:
    """Run the subcommand, and exit with its code."""
    if sum([is_all, bool(functions), step is not None]) != 1:
        raise click.UsageError('use one of --all, --function and --step.', context)
    if not f'name{suffix}'.isidentifier() or not suffix:
        raise click.UsageError(f'--suffix {suffix!r}: no name can end in this.', context)
    try:
        if not (is_diff or force):
            _refuse_uncommitted(paths)
        from seamwise.check.migrate.migration import Selection  # noqa: PLC0415

        selection = Selection(frozenset(functions), None, frozenset(keep), suffix)
        context.exit(_migrate(paths, selection, step, python_executable or '', is_diff=is_diff))
    except ModuleNotFoundError as error:
        name = (error.name or '').partition('.')[0]
        package = 'libcst' if name == 'libcst' else 'mypy'
        raise missing_package_exit(error, package, extra='check') from error
    except ImportError as error:
        raise unsupported_mypy_exit(error) from error


def _refuse_uncommitted(paths: Sequence[str]) -> None:
    from seamwise.check.migrate.writing import uncommitted  # noqa: PLC0415

    files = uncommitted(paths)
    if isinstance(files, Failure):
        raise CommandExit(
            f'{files.failure()}, so a change could not be undone; use --force to write anyway.',
            Exit.FAILED,
        )
    if changed := files.unwrap():
        others = f' and {pluralize(len(changed) - 1, "other file")}' if changed[1:] else ''
        raise CommandExit(
            f'{escape(changed[0])}{others} has uncommitted changes; '
            'commit them, or use --force to write anyway.',
            Exit.FAILED,
        )


def _migrate(
    paths: Sequence[str],
    selection: 'Selection',
    step: int | None,
    python_executable: str,
    *,
    is_diff: bool,
) -> Exit:
    from seamwise.check.migrate.migration import plan_migration  # noqa: PLC0415
    from seamwise.check.migrate.writing import patch, write_all  # noqa: PLC0415
    from seamwise.check.reports import render_problem  # noqa: PLC0415

    if step is not None:
        place = _place_of_step(paths, step, python_executable)
        selection = msgspec.structs.replace(selection, place=place)
    plan = plan_migration(
        paths,
        progress=Progress(),
        selection=selection,
        python_executable=python_executable,
    )
    if isinstance(plan, Failure):
        for problem in plan.failure():
            write_stderr(f'seamwise: {render_problem(problem)}')
        raise CommandExit('nothing is written.', Exit.USAGE)
    migration = plan.unwrap()
    for problem in migration.problems:
        write_stderr(f'seamwise: {render_problem(problem)}')
    for item in migration.outside:
        write_stderr(
            f'seamwise: {escape(item.path)}:{item.line}: `{item.name}` {item.reason}. {item.advice}'
        )
    if is_diff:
        print_data(patch(migration.contents))
        return Exit.OK
    if migration.outside:
        raise CommandExit('nothing is written.', Exit.FAILED)
    written = write_all(migration.contents)
    if isinstance(written, Failure):
        failed = written.failure()
        raise CommandExit(
            f'cannot write {escape(failed.path)}: {failed.reason}. No file is changed.',
            Exit.FAILED,
        )
    print_text(_summary(migration))
    return Exit.OK


class Progress:
    """Lines about the stages of a migration; without a terminal, one every few seconds at most."""

    def __init__(self) -> None:
        stderr = std_stream('stderr')
        self._interval = 0.0 if stderr is not None and stderr.isatty() else _INTERVAL
        self._last = time.monotonic()

    def __call__(self, stage: str) -> None:
        """Write the name of a stage, unless the last one was written just before."""
        now = time.monotonic()
        if now - self._last >= self._interval:
            self._last = now
            write_stderr(f'{stage} …')


def _place_of_step(paths: Sequence[str], number: int, python_executable: str) -> tuple[str, int]:
    """Return path and line of the exception class that a step of the adoption plan converts."""
    from seamwise.check.adoption.report import adoption_report  # noqa: PLC0415

    report = adoption_report(paths, python_executable=python_executable)
    if number > len(report.steps):
        count = pluralize(len(report.steps), 'step')
        raise CommandExit(f'--step {number}: the plan has {count}.', Exit.USAGE)
    step = report.steps[number - 1]
    if step.kind != 'error':
        raise CommandExit(
            f'--step {number}: {escape(step.path)}:{step.line}: `{step.name}` {step.why} '
            f'This is a step by hand. {step.how}',
            Exit.USAGE,
        )
    return step.path, step.line


def _summary(migration: 'Migration') -> str:
    counts = ', '.join(
        [
            pluralize(len(migration.contents), 'file'),
            pluralize(len(migration.classes), 'exception'),
            pluralize(len(migration.functions), 'function'),
        ]
    )
    lines = [f'Converted: {counts}.']
    if migration.not_migrated:
        lines += ['', 'Not converted:']
    for item in migration.not_migrated:
        place = f'{escape(item.path)}:{item.line}'
        lines += ['', f'{place}: `{item.name}` {item.reason}.', f'    {item.advice}']
    return '\n'.join(lines)
