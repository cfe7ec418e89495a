"""Tests of `cli.main`: how a program ends, in its own process."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import click.testing
import pytest
import typer
import typer.testing

from seamwise import Failure, Result, Success, accumulate, or_raise
from seamwise.seams import cli
from seamwise.seams.cli.main import TRACEBACK_VARIABLE
from tests.seams.cli_program import ERRORS, OrderNotFound, click_app, find, main, typer_app

COMMAND = [sys.executable, '-m', 'tests.seams.cli_program']
APPS = pytest.mark.parametrize('app', ['click', 'typer'])
PROGRAMS = pytest.mark.parametrize(
    'program', [['click', 'act'], ['typer', 'act'], ['act']], ids=lambda program: program[0]
)
MISSING = 'There is no order 2.\nhint: list the orders.\n'


def run_here(*arguments: str) -> tuple[object, str, str]:
    """Return the exit code and the output like `run`, without a new process."""
    with (
        patch.object(sys, 'argv', ['shop', *arguments]),
        redirect_stdout(StringIO()) as stdout,
        redirect_stderr(StringIO()) as stderr,
        pytest.raises(SystemExit) as info,
    ):
        main()
    return info.value.code, stdout.getvalue(), stderr.getvalue()


def environment(**variables: str) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(('LC_', 'LANG', 'SEAMWISE_'))
    }
    return {**inherited, 'TERM': 'dumb', **variables}


def run(*arguments: str, stdin: str = '', **variables: str) -> tuple[int, str, str]:
    """Return the exit code, the standard output and the standard error of a program."""
    ended = subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env=environment(**variables),
        timeout=60,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


# Results


@APPS
def test_results_of_commands_are_reported(app: str) -> None:
    assert run_here(app, 'show', '1') == (0, 'order 1\n', '')
    assert run_here(app, 'show', '2') == (66, '', MISSING)
    assert run_here(app, 'admin', 'show', '2') == (66, '', MISSING)


def test_the_result_of_a_function_is_reported() -> None:
    assert run_here('show', '1') == (0, 'order 1\n', '')
    assert run_here('show', '2') == (66, '', MISSING)


@APPS
def test_no_subcommand_runs_if_the_callback_of_a_group_fails(app: str) -> None:
    assert run_here(app, '--signed-out', 'show', '1') == (77, '', 'You are signed out.\n')
    assert run_here(app, 'admin', '--signed-out', 'show', '1') == (77, '', 'You are signed out.\n')


@PROGRAMS
def test_a_raised_error_that_the_adapter_covers_is_a_failure(program: list[str]) -> None:
    assert run_here(*program, 'raised') == (66, '', MISSING)


def refuse() -> Result[object, tuple[OrderNotFound, ...]]:
    return accumulate([find(2), find(3)])


def refused_group() -> click.Group:
    group = click.Group(callback=refuse)
    group.add_command(click.Command('run', callback=lambda: pytest.fail('It ran.')))
    return group


def refused_typer() -> typer.Typer:
    app = typer.Typer()
    app.callback()(refuse)
    app.command('run')(lambda: pytest.fail('It ran.'))
    return app


def raising_command() -> click.Command:
    return click.Command('run', callback=lambda: or_raise(refuse()))


@pytest.mark.parametrize(
    ('app', 'arguments'),
    [(refused_group(), ['run']), (refused_typer(), ['run']), (raising_command(), [])],
    ids=['click', 'typer', 'raised'],
)
def test_several_failures_of_a_callback_or_an_exception_are_reported_as_a_group(
    app: click.Command | typer.Typer, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as info:
        cli.main(app, ERRORS, args=arguments)
    assert info.value.code == 66
    assert capsys.readouterr().err == f'{MISSING}\n{MISSING.replace("2", "3")}'


def test_several_failures_of_a_function_are_reported_as_a_group(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as info:
        cli.main(refuse, ERRORS)
    assert info.value.code == 66
    assert capsys.readouterr().err == f'{MISSING}\n{MISSING.replace("2", "3")}'


def test_all_results_of_a_chain_are_reported() -> None:
    assert run_here('chain', 'show', '1', 'show', '2', 'show', '1') == (
        66,
        'order 1\norder 1\n',
        MISSING,
    )


@pytest.mark.slow
def test_resources_of_the_context_are_closed_before_a_value_is_reported() -> None:
    ended = subprocess.run(
        [*COMMAND, 'click', 'buy'],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(PYTHONUNBUFFERED='1'),
        check=False,
    )
    assert ended.stdout == 'committed\nbought\n'


@pytest.mark.slow
def test_the_style_json_is_passed_on() -> None:
    code, output, _ = run('click', 'show', '2', TEST_JSON='1')
    assert code == 66
    assert json.loads(output)['errors'][0]['type'] == 'OrderNotFound'
    assert 'hunter2' not in output
    code, output, errors = run('click', 'act', 'defect', TEST_JSON='1')
    [error] = json.loads(output)['errors']
    assert (code, errors) == (70, '')
    assert (error['type'], error['code'], list(error['fields'])) == ('Defect', 'SOFTWARE', ['ref'])


@APPS
def test_an_option_of_the_program_can_set_the_style(app: str) -> None:
    code, output, errors = run_here(app, '--json', 'show', '2')
    assert (code, errors) == (66, '')
    assert json.loads(output)['errors'][0]['type'] == 'OrderNotFound'
    # It applies to the program that runs only.
    assert run_here(app, 'show', '2') == (66, '', MISSING)


def test_a_coroutine_of_the_program_can_set_the_style(capsys: pytest.CaptureFixture[str]) -> None:
    async def work() -> Result[str, OrderNotFound]:
        cli.set_style('json')
        return find(2)

    with pytest.raises(SystemExit):
        cli.main(lambda: asyncio.run(work()), ERRORS)
    assert json.loads(capsys.readouterr().out)['exit_code'] == 66


def test_a_style_that_a_program_sets_has_no_effect_outside_of_main() -> None:
    outcome = click.testing.CliRunner().invoke(
        click_app, ['--json', 'show', '2'], standalone_mode=False
    )
    assert outcome.return_value == Failure(OrderNotFound(2))


def test_a_style_that_does_not_exist_is_refused() -> None:
    style: Any = 'jsn'
    message = "The style must be 'auto', 'plain', 'screen-reader' or 'json', not 'jsn'."
    with pytest.raises(ValueError, match=re.escape(message)):
        cli.set_style(style)
    with pytest.raises(ValueError, match=re.escape(message)):
        cli.main(lambda: Success(1), ERRORS, style=style)


def test_the_app_itself_is_not_changed() -> None:
    with pytest.raises(SystemExit):
        cli.main(click_app, ERRORS, args=['show', '2'])
    with pytest.raises(SystemExit):
        cli.main(typer_app, ERRORS, args=['show', '2'])
    options = {'standalone_mode': False}
    clicked = click.testing.CliRunner().invoke(click_app, ['show', '2'], **options)  # type: ignore[arg-type]  # keywords of main
    typed = typer.testing.CliRunner().invoke(typer_app, ['show', '2'], **options)  # type: ignore[arg-type]  # as above
    assert clicked.return_value == typed.return_value == Failure(OrderNotFound(2))


def test_arguments_can_be_passed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as info:
        cli.main(click_app, ERRORS, args=['show', '1'])
    assert (info.value.code, capsys.readouterr().out) == (0, 'order 1\n')
    with pytest.raises(TypeError, match='for a click or typer app only'):
        cli.main(lambda: find(1), ERRORS, args=['1'])  # type: ignore[call-overload]  # the misuse is the test


def test_a_plain_function_is_an_adapter(capsys: pytest.CaptureFixture[str]) -> None:
    def render(error: object) -> cli.Rendered:
        return cli.Rendered(str(error), 9)

    with pytest.raises(SystemExit) as info:
        cli.main(lambda: Failure('late'), render)
    assert (info.value.code, capsys.readouterr().err) == (9, 'late\n')
    with pytest.raises(SystemExit):
        cli.main(lambda: Success('here'), render)
    assert capsys.readouterr().out == 'here\n'


# Promises of click and typer


@APPS
def test_a_usage_error_is_that_of_the_app(app: str) -> None:
    code, output, errors = run_here(app, 'nope')
    assert (code, output) == (2, '')
    assert "No such command 'nope'." in errors
    assert errors.startswith('Usage:')
    assert ('╭─ Error' in errors) is (app == 'typer')


@APPS
def test_help_is_that_of_the_app(app: str) -> None:
    code, output, errors = run_here(app, '--help')
    assert (code, errors) == (0, '')
    assert 'Manage a shop.' in output
    assert 'Show an order.' in output


@pytest.mark.slow
@APPS
def test_an_aborted_prompt_is_that_of_the_app(app: str) -> None:
    for stdin in ('n\n', ''):
        code, _, errors = run(app, 'ask', stdin=stdin)
        assert code == 1
        assert 'Aborted' in errors
    assert run(app, 'ask', stdin='y\n') == (0, 'Sure? [y/N]: asked\n', '')


def test_exit_codes_of_commands_are_kept() -> None:
    assert run_here('click', 'act', 'exit') == (5, '', '')
    assert run_here('typer', 'act', 'exit') == (5, '', '')
    assert run_here('typer', 'act', 'exit-typer') == (4, '', '')
    assert run_here('act', 'exit') == (5, '', '')


def test_values_that_are_no_results_are_ignored_as_in_click() -> None:
    assert run_here('click', 'act', 'int') == (0, '', '')
    assert run_here('typer', 'act', 'int') == (0, '', '')


def test_the_value_of_a_function_is_an_exit_code_as_in_a_console_script() -> None:
    assert run_here('act', 'int') == (3, '', '')


@pytest.mark.slow
@APPS
def test_shell_completion_works(app: str) -> None:
    variables = {
        'click': {'COMP_WORDS': 'shop a', 'COMP_CWORD': '1'},
        'typer': {'_TYPER_COMPLETE_ARGS': 'shop a', 'COMP_WORDS': 'shop a', 'COMP_CWORD': '1'},
    }[app]
    name = {
        'click': '_PYTHON _M TESTS_SEAMS_CLI_PROGRAM_COMPLETE',
        'typer': '_PYTHON _M TESTS.SEAMS.CLI_PROGRAM_COMPLETE',
    }[app]
    value = {'click': 'bash_complete', 'typer': 'complete_bash'}[app]
    code, output, errors = run(app, **variables, **{name: value})
    assert (code, errors) == (0, '')
    assert {'act', 'admin', 'ask'} <= {line.removeprefix('plain,') for line in output.splitlines()}


# Defects


@pytest.mark.slow
@PROGRAMS
def test_a_defect_is_reported_without_details(program: list[str]) -> None:
    code, output, errors = run(*program, 'defect')
    assert (code, output) == (70, '')
    assert errors.startswith('INTERNAL: ')
    assert f'{TRACEBACK_VARIABLE}=1' in errors
    assert 'ZeroDivisionError' not in errors


@pytest.mark.slow
def test_details_of_a_defect_are_shown_to_developers() -> None:
    _, _, errors = run('click', 'act', 'defect', **{TRACEBACK_VARIABLE: '1'})
    assert errors.startswith('ZeroDivisionError: ')
    assert 'in act\n' in errors
    assert 'click' + os.sep + 'core.py' not in errors
    assert errors.splitlines()[-1].endswith(' are above; no log has them.')


@pytest.mark.slow
def test_the_log_file_with_the_details_of_a_defect_is_named(tmp_path: Path) -> None:
    file = tmp_path / 'shop.log'
    _, _, errors = run('typer', 'act', 'defect', TEST_LOG=str(file))
    hint = errors.splitlines()[1]
    assert hint.startswith(f'hint: the log in {file} says more about err_')
    assert f'defect {hint.split()[-1][:-1]}: ZeroDivisionError' in file.read_text()


@pytest.mark.slow
@PROGRAMS
def test_an_error_that_the_adapter_does_not_cover_is_a_defect(program: list[str]) -> None:
    code, _, errors = run(*program, 'uncovered', **{TRACEBACK_VARIABLE: '1'})
    assert code == 70
    assert 'No arm covers ValueError' in errors
    name = {'click': 'click_act', 'typer': 'typer_act', 'act': 'plain_act'}[program[0]]
    assert f'function: __main__.{name}\n' in errors


@pytest.mark.slow
@PROGRAMS
def test_a_coroutine_is_a_defect_that_names_its_function(program: list[str]) -> None:
    code, _, errors = run(*program, 'coroutine', **{TRACEBACK_VARIABLE: '1'})
    assert code == 70
    assert 'sleep is a coroutine function, which is not awaited here' in errors
    assert 'RuntimeWarning' not in errors


# Signals


def interrupted(
    program: Sequence[str], *numbers: signal.Signals, lines: int = 1
) -> tuple[int, str]:
    """Send signals to a program, each after a line of its output; return exit code and stderr."""
    with subprocess.Popen(
        [*COMMAND, *program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        for number in numbers:
            for _ in range(lines):
                assert process.stdout.readline() == 'ready\n'
            process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        return process.returncode, errors


@pytest.mark.slow
@PROGRAMS
def test_ctrl_c_exits_with_130_after_the_clean_up(program: list[str]) -> None:
    code, errors = interrupted([*program, 'wait'], signal.SIGINT)
    assert code == 130
    assert 'cleaned up\n' in errors
    assert 'Traceback' not in errors


@pytest.mark.slow
@PROGRAMS
def test_a_second_ctrl_c_ends_the_clean_up(program: list[str]) -> None:
    code, errors = interrupted([*program, 'wait-twice'], signal.SIGINT, signal.SIGINT)
    assert code == 130
    assert errors.count('cleaned up\n') == 2
    assert 'Traceback' not in errors


@pytest.mark.slow
def test_a_second_ctrl_c_ends_the_wait_for_threads() -> None:
    with subprocess.Popen(
        [*COMMAND, 'act', 'cleanup-of-python'],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == 'ready\n'
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, '')


@pytest.mark.slow
@PROGRAMS
@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_after_the_clean_up(
    program: list[str], number: signal.Signals
) -> None:
    assert interrupted([*program, 'wait'], number) == (128 + number, 'cleaned up\n')


@pytest.mark.slow
@APPS
def test_ctrl_c_in_a_prompt_exits_with_130(app: str) -> None:
    with subprocess.Popen(
        [*COMMAND, app, 'ask'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PYTHONUNBUFFERED='1'),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(4) == b'Sure'
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b'Traceback' not in errors


# Streams


@pytest.mark.slow
@PROGRAMS
def test_a_reader_that_has_ended_is_no_error(program: list[str]) -> None:
    with subprocess.Popen(
        [*COMMAND, *program, 'lines'],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == 'line 0\n'
        process.stdout.close()
        assert (process.wait(60), process.stderr.read()) == (141, '')


@pytest.mark.slow
@APPS
def test_a_help_page_without_a_reader_is_no_error(app: str) -> None:
    read, written = os.pipe()
    os.close(read)
    with open(written, 'wb') as pipe:  # noqa: PTH123 -- a descriptor
        ended = subprocess.run(
            [*COMMAND, app, 'show', '--help'],
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (141, '')


JSON_USAGE_ERRORS = [
    (['show', 'ten'], 'BadParameter', 'invalid value'),
    (['show', '--bogus', '1'], 'NoSuchOption', '--bogus'),
    (['show'], 'MissingParameter', 'id'),
    (['admin', 'show', 'ten'], 'BadParameter', 'invalid value'),
    (['act', 'unknown'], 'UsageError', 'unknown: unknown'),
]


@APPS
@pytest.mark.parametrize(('arguments', 'kind', 'text'), JSON_USAGE_ERRORS)
def test_a_usage_error_is_a_line_of_json_after_the_option(
    app: str, arguments: list[str], kind: str, text: str
) -> None:
    code, output, errors = run_here(app, '--json', *arguments)
    assert (code, errors) == (2, '')
    [line] = output.splitlines()
    [error] = json.loads(line)['errors']
    assert (error['type'], error['code'], error['exit_code']) == (kind, 'USAGE', 2)
    assert text in error['text'].lower()


@APPS
def test_a_usage_error_is_text_without_the_option(app: str) -> None:
    code, output, errors = run_here(app, 'show', 'ten')
    assert (code, output) == (2, '')
    assert 'Usage:' in errors


def test_a_usage_error_is_a_line_of_json_in_the_style_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as info:
        cli.main(click_app, ERRORS, args=['nothing'], style='json')
    output, errors = capsys.readouterr()
    assert (info.value.code, errors) == (2, '')
    assert json.loads(output)['exit_code'] == 2


def test_the_help_of_a_program_without_a_command_is_no_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as info:
        cli.main(click_app, ERRORS, args=[], style='json')
    output, errors = capsys.readouterr()
    assert info.value.code == 2
    assert 'Usage:' in output + errors


def break_own_pipe() -> int:
    here, there = socket.socketpair()
    there.close()
    with here:
        here.sendall(b'x')
    return 0


def own_pipe_of_click() -> None:
    cli.main(click.command()(break_own_pipe), ERRORS, args=[])


def own_pipe_of_typer() -> None:
    program = typer.Typer()
    program.command()(break_own_pipe)
    cli.main(program, ERRORS, args=[])


def own_pipe_of_function() -> None:
    cli.main(break_own_pipe, ERRORS)


@pytest.mark.parametrize('program', [own_pipe_of_click, own_pipe_of_typer, own_pipe_of_function])
def test_a_broken_socket_of_the_program_itself_is_a_defect(
    program: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as info:
        program()
    assert info.value.code == 70
    assert 'err_' in capsys.readouterr().err


@pytest.mark.slow
def test_a_console_of_rich_on_another_pipe_is_not_standard_output() -> None:
    program = """
import os
from rich.console import Console
from seamwise.seams import cli
from tests.seams.cli_program import ERRORS

def act() -> int:
    read, written = os.pipe()
    os.close(read)
    Console(file=os.fdopen(written, 'w', buffering=1)).print('x')
    return 0

cli.main(act, ERRORS)
"""
    ended = subprocess.run([sys.executable, '-c', program], capture_output=True, check=False)
    assert ended.returncode == 1


def test_an_exit_code_after_a_broken_connection_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    def program() -> int:
        try:
            raise BrokenPipeError
        except BrokenPipeError:
            sys.exit(3)

    with pytest.raises(SystemExit) as info:
        cli.main(program, ERRORS)
    assert info.value.code == 3
    assert capsys.readouterr() == ('', '')


@pytest.mark.slow
@pytest.mark.parametrize(
    'arguments',
    [
        ['click', 'show', '1'],
        ['typer', 'show', '1'],
        ['show', '1'],
        ['act', 'lines'],
        ['click', 'act', 'lines'],
        ['typer', 'act', 'lines'],
    ],
    ids=' '.join,
)
def test_a_full_disk_is_reported(arguments: list[str]) -> None:
    with Path('/dev/full').open('w') as full:
        ended = subprocess.run(
            [*COMMAND, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            check=False,
        )
    assert ended.returncode == 74
    assert ended.stderr == 'cannot write to standard output: No space left on device.\n'


@pytest.mark.slow
def test_the_exit_code_of_a_failure_remains_if_no_stream_can_be_written() -> None:
    with Path('/dev/full').open('w') as full:
        ended = subprocess.run(
            [*COMMAND, 'click', 'show', '2'],
            stdout=full,
            stderr=full,
            env=environment(),
            check=False,
        )
    assert ended.returncode == 66


@pytest.mark.slow
def test_closed_streams_are_reported_by_the_exit_code() -> None:
    command = ' '.join([*COMMAND, 'show'])
    codes = [
        subprocess.run(f'{command} {rest}', shell=True, env=environment(), check=False).returncode  # noqa: S602
        for rest in ('1 >&- 2>&-', '2 >&- 2>&-')
    ]
    assert codes == [74, 66]


# Language


@pytest.mark.slow
def test_the_environment_selects_the_language() -> None:
    program = (
        'import sys\n'
        'from seamwise import Failure\n'
        'from seamwise.catalog.tools import FileAlreadyExists\n'
        'from seamwise.seams import cli\n'
        'from seamwise.seams.cli.tables import TOOLS\n'
        "cli.main(lambda: Failure(FileAlreadyExists('t', 'a.txt')), TOOLS)\n"
    )
    ended = subprocess.run(
        [sys.executable, '-c', program],
        capture_output=True,
        env=environment(LANG='zh_CN.UTF-8', PYTHONUTF8='1'),
        check=False,
    )
    assert ended.stderr.decode() == "'a.txt' 已存在。\nhint: 允许覆盖它，或选择其他路径。\n"
