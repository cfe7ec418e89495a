"""Programs of click, typer and argparse before and after their migration, with equal arguments."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import pytest

from seamwise.check.migrate.migration import Migration, plan_migration
from tests.check.migrate.migrating import ERRORS, SERVICE, migrate, write_package

# The tests run mypy.
pytestmark = pytest.mark.slow

CLICK = """
import sys

import click

from shop.errors import Missing, Soaked, SoldOut
from shop.service import find, sell


@click.group()
def cli() -> None:
    \"\"\"Run a shop.\"\"\"


@cli.command('find')
@click.argument('name')
def show(name: str) -> None:
    # Look it up.
    try:
        left = find(name)
    except Missing as error:
        click.echo(str(error), err=True)
        sys.exit(3)
    except Soaked:
        raise SystemExit(4)
    else:
        click.echo('found')
    click.echo(f'{left} left')


@cli.command('sell')
@click.argument('name')
@click.option('--count', default=1)
@click.pass_context
def sold(ctx: click.Context, name: str, count: int) -> None:
    try:
        click.echo(sell(name) * count)
    except SoldOut as problem:
        raise click.ClickException(f'sold: {problem}') from problem
    except Missing as problem:
        print(problem, file=sys.stderr)
        ctx.exit(3)
    except Soaked:
        sys.exit(4)


if __name__ == '__main__':
    cli()
"""
TYPER = """
import sys

import typer

from shop.errors import Missing, ShopError, SoldOut
from shop.service import find, sell

app = typer.Typer()
stock = typer.Typer()
app.add_typer(stock, name='stock')


@app.callback()
def start(verbose: bool = False) -> None:
    if verbose:
        typer.echo('verbose')


@stock.command('find')
def show(name: str, as_json: bool = typer.Option(False, '--json')) -> None:
    typer.echo(f'{find(name)} left')


@app.command('sell')
def sold(name: str, count: int = 1) -> int:
    try:
        return sell(name) * count
    except SoldOut as error:
        typer.echo(error, err=True)
        raise typer.Exit(code=2) from error


def main() -> None:
    try:
        app()
    except Missing as error:
        print(f'{error}', file=sys.stderr)
        sys.exit(3)
    except ShopError as error:
        sys.exit(f'wet: {error}')


if __name__ == '__main__':
    main()
"""
ARGPARSE = """
import argparse
import sys
from collections.abc import Sequence

from shop.errors import ShopError, SoldOut
from shop.service import find, sell


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument('name')
    name = parser.parse_args(arguments).name
    if name == 'none':
        return 9
    try:
        left = find(name) + sell(name)
    except SoldOut as error:
        print(error, file=sys.stderr)
        return 75
    except ShopError as error:
        print(f'Cannot sell: {error}', file=sys.stderr)
        return 65
    print(left)
    return 0


if __name__ == '__main__':
    sys.exit(main())
"""
PLAIN = """
import sys

from shop.errors import ShopError, SoldOut
from shop.service import find, sell


class Late(Exception):
    pass


def main() -> None:
    try:
        name = sys.argv[1]
        if name == 'late':
            try:
                int(name)
            except ValueError as problem:
                raise Late('too late') from problem
        left = find(name) + sell(name)
    except (SoldOut, Late) as error:
        print(error, file=sys.stderr)
        raise SystemExit(75)
    except ShopError as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    print(left)


if __name__ == '__main__':
    main()
"""
GROUP = """
import sys

import click

from shop.commands import show, sold


@click.group()
@click.version_option('1')
def app() -> None:
    \"\"\"Run.\"\"\"


app.add_command(show)
app.add_command(sold)


def main() -> None:
    sys.exit(app())


if __name__ == '__main__':
    main()
"""
COMMANDS = """
import sys

import click

from shop.errors import Missing, Soaked, SoldOut
from shop.service import find, sell


@click.command('find')
@click.argument('name')
def show(name: str) -> None:
    \"\"\"Find.\"\"\"
    for part in name.split('-'):
        try:
            left = find(part)
        except (Missing, Soaked) as error:
            click.echo(error, err=True)
            sys.exit(3)
        except ValueError:
            sys.exit(9)
        click.echo(f'{left} left')


@click.command('sell')
@click.argument('name')
def sold(name: str) -> None:
    try:
        click.echo(sell(name))
    except SoldOut as problem:
        try:
            raise ValueError
        except ValueError:
            sys.exit(2)
    except Missing as problem:
        print(problem, file=sys.stderr)
        sys.exit(3)
    except Soaked as problem:
        print(f'{problem}', file=sys.stderr)
        raise SystemExit(3)
"""
KEPT = """
import sys

import click


class Loud(Exception):
    pass


class Fine(Exception):
    pass


class Late(Exception):
    pass


class Held(Exception):
    pass


class Twice(Exception):
    pass


class Easy(Exception):
    pass


def fail(name: str) -> int:
    if name == 'loud':
        raise Loud(name)
    if name == 'fine':
        raise Fine(name)
    return len(name)


def fail_later(name: str) -> int:
    if name == 'late':
        raise Late(name)
    if name == 'held':
        raise Held(name)
    return len(name)


def fail_twice(name: str) -> int:
    if name == 'twice':
        raise Twice(name)
    return len(name)


def fail_easily(name: str) -> int:
    if name == 'easy':
        raise Easy(name)
    return len(name)


class Printing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        print('closed', file=sys.stderr)


@click.group()
def program() -> None:
    pass


@program.command()
@click.argument('name')
def one(name: str) -> None:
    try:
        print(fail(name))
    except Loud as error:
        print('loud', error)
        sys.exit(1)
    except Fine:
        sys.exit(0)


@program.command()
@click.argument('name')
def two(name: str) -> None:
    try:
        print(fail_later(name))
    except Late as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except Held as error:
        sys.exit(str(error))
    finally:
        print('end', file=sys.stderr)


@program.command()
@click.argument('name')
def three(name: str) -> None:
    with Printing():
        try:
            print(fail_later(name))
        except Late:
            sys.exit(2)
        except Held as error:
            print(error, file=sys.stderr)
            sys.exit(2)


@program.command()
@click.argument('name')
def four(name: str) -> None:
    try:
        print(fail_twice(name))
    except Twice as error:
        print(error, file=sys.stderr)
        sys.exit(2)


@program.command()
@click.argument('name')
def five(name: str) -> None:
    try:
        print(fail_twice(name))
    except Twice as error:
        print(error, file=sys.stderr)
        sys.exit(3)


@program.command()
@click.argument('name')
def six(name: str) -> None:
    try:
        print(fail_easily(name))
    except Easy as error:
        print(error, file=sys.stderr)
        sys.exit(3)


if __name__ == '__main__':
    program()
"""


def run_with(line: str) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error of the program."""
    done = subprocess.run(
        [sys.executable, '-B', '-m', 'shop.app', *line.split()],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def compare(folder: Path, app: str, lines: Sequence[str], **others: str) -> tuple[str, Migration]:
    """Migrate a program, compare its runs, and return the new source of its commands."""
    sources = {'errors': ERRORS, 'service': SERVICE, 'app': app, **others}
    write_package(folder, {name: dedent(text).lstrip() for name, text in sources.items()})
    before = [run_with(line) for line in lines]
    assert any(code not in {0, 2} for code, _, _ in before)
    migration = migrate(folder)
    assert [run_with(line) for line in lines] == before
    assert not plan_migration([folder.name]).unwrap().contents
    return (folder / 'app.py').read_text(), migration


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / 'shop'


def test_clauses_of_click_commands_become_a_table_with_the_same_exits(folder: Path) -> None:
    lines = [
        *(f'find {name}' for name in ('milk', 'coat', 'mate')),
        *(f'sell {name}' for name in ('milk', 'coat', 'mate', 'tea', 'mate --count x')),
        '',
        'find --help',
    ]
    app, migration = compare(folder, CLICK, lines)
    assert not migration.not_migrated
    assert '@fallible\ndef show(do: Do[Missing | Soaked], name: str) -> None:' in app
    assert "    # Look it up.\n    left = do(find(name))\n    click.echo('found')\n" in app
    assert 'from seamwise.seams import cli as terminal\n' in app
    assert 'EXITS = terminal.on(Missing).exits(3) | show_soaked | show_sold_out\n' in app
    assert "    return terminal.Rendered(f'Error: sold: {error}', 1)\n" in app
    assert app.endswith("if __name__ == '__main__':\n    terminal.main(cli, EXITS)\n")
    assert 'except' not in app


def test_errors_that_leave_typer_commands_become_a_table_of_main(folder: Path) -> None:
    lines = [
        *(f'stock find {name}' for name in ('milk', 'coat', 'mate --json')),
        *(f'--verbose sell {name}' for name in ('milk', 'coat', 'mate', 'tea', 'mate --count x')),
        '',
    ]
    app, migration = compare(folder, TYPER, lines)
    (item,) = migration.not_migrated
    assert (item.name, item.reason) == (
        'sold',
        'returns a value, which the end of the program would print',
    )
    assert 'EXITS = cli.on(Missing).exits(3) | cli.on(SoldOut).exits(2) | show_soaked\n' in app
    assert 'def main() -> None:\n    cli.main(app, EXITS)\n' in app


def test_returned_exit_codes_become_a_table_of_a_program_without_framework(folder: Path) -> None:
    app, _ = compare(folder, ARGPARSE, ['milk', 'coat', 'mate', 'tea', 'none', ''])
    assert 'EXITS = cli.on(SoldOut).exits(75) | show_missing\n' in app
    assert 'def show_missing(error: Missing | Soaked) -> cli.Rendered:' in app
    assert app.endswith("if __name__ == '__main__':\n    cli.main(main, EXITS)\n")


def test_clauses_that_stay_pass_the_other_errors_on(folder: Path) -> None:
    lines = [
        *(f'find {name}' for name in ('milk', 'mate-coat', 'mate')),
        *(f'sell {name}' for name in ('milk', 'coat', 'mate', 'tea')),
        '--version',
    ]
    app, migration = compare(folder, GROUP, lines, commands=COMMANDS)
    (item,) = migration.not_migrated
    assert item.name == 'SoldOut'
    assert 'EXITS = cli.on(Missing).exits(3) | cli.on(Soaked).exits(3)\n' in app
    assert '    cli.main(app, EXITS)\n' in app
    commands = (folder / 'commands.py').read_text()
    assert '            left = do(find(part))\n        except ValueError:\n' in commands
    assert '                case Missing() | Soaked():\n                    do.fail(pr' in commands


def test_a_cause_that_was_not_shown_stays_hidden(folder: Path) -> None:
    app, migration = compare(folder, PLAIN, ['milk', 'coat', 'mate', 'tea', 'late'])
    assert 'shop.app.main' in migration.functions
    assert '    return cli.Rendered(str(error), 75)\n' in app
    assert 'cli.on(SoldOut).exits(75)' in app


def test_clauses_that_no_arm_expresses_stay_and_are_listed(folder: Path) -> None:
    lines = [
        'one loud', 'one fine', 'one a', 'two late', 'two held', 'two a', 'three late',
        'three held', 'four twice', 'five twice', 'six easy', 'six a',
    ]  # fmt: skip
    app, migration = compare(folder, KEPT, lines)
    assert 'EXITS = cli.on(Easy).exits(3)\n' in app
    reasons = {item.name: item.reason for item in migration.not_migrated if item.name.istitle()}
    assert reasons.keys() == {'Loud', 'Fine', 'Late', 'Held', 'Twice'}
    assert 'more than a text on standard error' in reasons['Loud']
    assert 'more than a text on standard error' in reasons['Fine']
    assert 'an exit before a `finally` or the end of a `with`' in reasons['Late']
    assert reasons['Twice'].endswith('with another answer than elsewhere')


TESTS = """
from click.testing import CliRunner

from shop.app import cli


def test_milk():
    outcome = CliRunner().invoke(cli, ['find', 'milk'])
    assert (outcome.exit_code, outcome.output) == (3, 'no milk\\n')


test_milk()
print('passed')
"""


@pytest.mark.parametrize('place', ['inside', 'outside', 'script'])
def test_commands_that_other_code_runs_keep_their_clauses(folder: Path, place: str) -> None:
    sources = {'errors': ERRORS, 'service': SERVICE, 'app': CLICK}
    if place == 'inside':
        sources['app_test'] = TESTS
    if place == 'script':
        sources['app'] = CLICK.partition("\nif __name__ == '__main__':")[0]
    write_package(folder, {name: dedent(text).lstrip() for name, text in sources.items()})
    if place == 'outside':
        subprocess.run(['git', 'init', '-q'], check=True)
        Path('check_app.py').write_text(TESTS.lstrip())
    if place == 'script':
        with Path('pyproject.toml').open('a') as file:
            file.write("[project]\nname = 'shop'\n[project.scripts]\nshop = 'shop.app:cli'\n")
    migration = migrate(folder)
    assert not migration.outside
    app = (folder / 'app.py').read_text()
    assert 'case Missing():\n' in app
    assert 'EXITS' not in app
    expected = {
        'inside': 'is also used at shop/app_test.py:7',
        'outside': 'is also used at check_app.py:3',
        'script': 'is an entry point in pyproject.toml',
    }
    reasons = [item.reason for item in migration.not_migrated]
    assert len(reasons) == 5
    assert all(expected[place] in reason for reason in reasons)
    if place != 'script':
        module = 'shop.app_test' if place == 'inside' else 'check_app'
        command = [sys.executable, '-B', '-m', module]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout == 'passed\n', done.stderr
