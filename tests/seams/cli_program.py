"""Programs for tests of `cli.main`: `python -m tests.seams.cli_program NAME ARGUMENT…`."""

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

import click
import typer

from seamwise import Category, Failure, Result, Secret, Success, TaggedError, or_raise
from seamwise.seams import cli
from seamwise.seams.cli.report import Form


class OrderNotFound(
    TaggedError,
    namespace='cli_program',
    category=Category.NOT_FOUND,
    message='There is no order {id}.',
):
    id: int
    token: Secret[str] = Secret('hunter2')


class SignedOut(
    TaggedError,
    namespace='cli_program',
    category=Category.AUTHENTICATION,
    message='You are signed out.',
):
    pass


ERRORS = cli.on(OrderNotFound).exits(66, hint='list the orders.') | cli.on(SignedOut).exits(77)


def find(id_: int) -> Result[str, OrderNotFound]:
    return Success(f'order {id_}') if id_ == 1 else Failure(OrderNotFound(id_))


def wait(seconds: float = 20) -> None:
    """Wait for a signal; write the end of the clean-up."""
    try:
        sys.stdout.write('ready\n')
        sys.stdout.flush()
        time.sleep(seconds)
    finally:
        sys.stderr.write('cleaned up\n')


def act(name: str) -> object:  # noqa: C901, PLR0912 -- one case a test
    """Do what a command is called for, other than returning a result."""
    match name:
        case 'raised':
            return or_raise(find(2))
        case 'defect':
            return 1 // 0
        case 'uncovered':
            return Failure(ValueError('no arm'))
        case 'wait':
            wait()
        case 'wait-twice':
            try:
                wait()
            finally:
                wait()
        case 'lines':
            for number in range(100_000):
                print(f'line {number}')
        case 'coroutine':
            return asyncio.sleep(0)
        case 'int':
            return 3
        case 'exit':
            sys.exit(5)
        case 'cleanup-of-python':
            import threading  # noqa: PLC0415

            threading.Thread(target=wait).start()
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        case _:
            raise click.UsageError(f'unknown: {name}')
    return None


# click


@contextmanager
def transaction() -> Generator[None]:
    yield
    sys.stderr.write('committed\n')


@click.group()
@click.option('--signed-out', is_flag=True)
@click.option('--level', type=int, default=0)
@click.option('--json', 'as_json', is_flag=True)
@click.pass_context
def click_app(
    context: click.Context, signed_out: bool, level: int, as_json: bool
) -> Result[int, SignedOut]:
    """Manage a shop."""
    context.obj = level
    if as_json:
        cli.set_style('json')
    return Failure(SignedOut()) if signed_out else Success(level)


@click_app.command('show')
@click.argument('id_', metavar='ID', type=int)
def click_show(id_: int) -> Result[str, OrderNotFound]:
    """Show an order."""
    return find(id_)


@click_app.command('act')
@click.argument('name')
def click_act(name: str) -> object:
    """Do something else."""
    return act(name)


@click_app.command('buy')
@click.pass_context
def click_buy(context: click.Context) -> Result[str, OrderNotFound]:
    """Buy with a resource."""
    context.with_resource(transaction())
    return Success('bought')


@click_app.command('ask')
def click_ask() -> Result[str, OrderNotFound]:
    """Ask a question."""
    click.confirm('Sure?', abort=True)
    return Success('asked')


@click_app.group('admin')
@click.option('--signed-out', is_flag=True)
def click_admin(signed_out: bool) -> Result[None, SignedOut]:
    """Administrate the shop."""
    return Failure(SignedOut()) if signed_out else Success(None)


click_admin.add_command(click_show)


@click.group(chain=True)
def click_chain() -> None:
    """Run several commands."""


click_chain.add_command(click_show)

# typer

typer_app = typer.Typer()
typer_admin = typer.Typer()
typer_app.add_typer(typer_admin, name='admin')


@typer_app.callback()
def typer_callback(signed_out: bool = False, json: bool = False) -> Result[None, SignedOut]:
    """Manage a shop."""
    if json:
        cli.set_style('json')
    return Failure(SignedOut()) if signed_out else Success(None)


@typer_app.command('show')
def typer_show(id_: int) -> Result[str, OrderNotFound]:
    """Show an order."""
    return find(id_)


@typer_app.command('act')
def typer_act(name: str) -> object:
    """Do something else."""
    if name == 'exit-typer':
        raise typer.Exit(4)
    return act(name)


@typer_app.command('ask')
def typer_ask() -> Result[str, OrderNotFound]:
    """Ask a question."""
    typer.confirm('Sure?', abort=True)
    return Success('asked')


@typer_admin.callback()
def typer_admin_callback(signed_out: bool = False) -> Result[None, SignedOut]:
    """Administrate the shop."""
    return Failure(SignedOut()) if signed_out else Success(None)


@typer_admin.command('show')
def typer_admin_show(id_: int) -> Result[str, OrderNotFound]:
    """Show an order."""
    return find(id_)


# plain functions


def plain_show() -> Result[str, OrderNotFound]:
    return find(int(sys.argv[2]))


def plain_act() -> int:
    return act(sys.argv[2])  # type: ignore[return-value]  # of the selected action


def main() -> None:
    # A background job of a shell without job control inherits an ignored SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if log_file := os.environ.get('TEST_LOG'):
        logging.basicConfig(filename=log_file)
    name = sys.argv[1]
    style: Form | None = 'json' if os.environ.get('TEST_JSON') else None
    if name == 'show':
        cli.main(plain_show, ERRORS, style=style)
    if name == 'act':
        cli.main(plain_act, ERRORS, style=style)
    arguments = sys.argv.pop(1)
    if arguments == 'typer':
        cli.main(typer_app, ERRORS, style=style)
    cli.main(click_chain if arguments == 'chain' else click_app, ERRORS, style=style)


if __name__ == '__main__':
    main()
