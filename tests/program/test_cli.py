"""Start and end of the command, tested in this process."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import click
import pytest
from typing_extensions import override

from seamwise import report_defect
from seamwise.program import cli, main
from seamwise.program.cli import seamwise
from seamwise.program.console import (
    Choice,
    CommandExit,
    Exit,
    log_to_stderr,
    os_error_exit,
    report_exit,
    stdout_error_exit,
)
from seamwise.program.progress import progress


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> dict[int, Callable[[int, FrameType | None], Any]]:
    """Record the signal handlers that the command installs, without installing them."""
    handlers_by_signal: dict[int, Callable[[int, FrameType | None], Any]] = {}
    monkeypatch.setattr('seamwise.program.cli.signal.signal', handlers_by_signal.__setitem__)
    usual: dict[int, signal.Handlers] = {}
    monkeypatch.setattr('seamwise.program.cli.signal.getsignal', usual.get)
    return handlers_by_signal


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, 'argv', ['seamwise', *arguments])
    with pytest.raises(SystemExit) as exit_info:
        main()
    return exit_info.value.code


def raise_error(error: BaseException) -> Callable[..., Any]:
    def fail(*arguments: object, **options: object) -> None:
        raise error

    return fail


NO_RICH = "the command requires rich. Install it with: pip install 'seamwise[cli]'"

pytestmark = pytest.mark.usefixtures('handlers')


def test_version_option_prints_the_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(monkeypatch, '--version') == 0
    assert capsys.readouterr().out.startswith('seamwise 0.')


def test_program_exits_with_the_code_of_the_subcommand(
    monkeypatch: pytest.MonkeyPatch, workspace: Path
) -> None:
    assert (
        run_main(
            monkeypatch,
            'run',
            str(workspace / 'nope'),
            '--workspace',
            str(workspace),
            '--seam',
            'cli',
        )
        == 66
    )


def test_incorrect_use_exits_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(monkeypatch, 'rnu') == 2
    assert "Did you mean 'run'?" in capsys.readouterr().err


def test_subcommand_without_a_code_exits_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seamwise, 'main', do_nothing)
    assert run_main(monkeypatch) == 0


def do_nothing(*arguments: object, **options: object) -> None: ...


@pytest.mark.parametrize(
    ('error', 'code', 'message'),
    [
        (click.Abort(), 130, 'seamwise: interrupted.\n'),
        (KeyboardInterrupt(), 130, ''),
        (
            OSError(28, 'No space left on device'),
            74,
            'seamwise: cannot write to standard output: No space left on device\n',
        ),
        (BrokenPipeError(32, 'Broken pipe'), 141, ''),
        (ModuleNotFoundError('no', name='rich.cells'), 78, f'seamwise: {NO_RICH}\n'),
    ],
)
def test_fatal_error_exits_with_its_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    message: str,
) -> None:
    discarded: list[object] = []
    monkeypatch.setattr('seamwise.program.console.discard_buffer', discarded.append)
    if isinstance(error, ModuleNotFoundError):
        monkeypatch.setattr('seamwise.program.cli.start', raise_error(error))
    monkeypatch.setattr(seamwise, 'main', raise_error(error))
    assert run_main(monkeypatch) == code
    assert capsys.readouterr().err == message
    assert discarded == [sys.stdout] * isinstance(error, OSError)


def test_missing_module_of_another_package_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        'seamwise.program.cli.start',
        raise_error(ModuleNotFoundError('no', name='seamwise.nothing')),
    )
    with pytest.raises(ModuleNotFoundError):
        main()


def test_defect_exits_with_70_and_its_reference_is_in_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bug = ZeroDivisionError('password=hunter2')
    monkeypatch.setattr(seamwise, 'main', raise_error(bug))
    assert run_main(monkeypatch) == 70
    output = capsys.readouterr()
    assert output.out == ''
    assert 'seamwise: INTERNAL: the program met an unexpected condition.' in output.err
    assert output.err.count(report_defect(bug).ref) == 2, 'once in the log, once for the user'
    assert 'ZeroDivisionError: password=***' in output.err
    assert 'hunter2' not in output.err


def test_signal_raises_system_exit_with_its_code(
    monkeypatch: pytest.MonkeyPatch, handlers: dict[int, Callable[[int, FrameType | None], Any]]
) -> None:
    run_main(monkeypatch, '--version')
    assert sorted(handlers) == [signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD]
    for number in (signal.SIGHUP, signal.SIGTERM):
        handler = handlers[number]
        with pytest.raises(SystemExit) as exit_info:
            handler(number, None)
        assert exit_info.value.code == 128 + number


def test_ignored_signal_stays_ignored(
    monkeypatch: pytest.MonkeyPatch, handlers: dict[int, Callable[[int, FrameType | None], Any]]
) -> None:
    monkeypatch.setattr(
        'seamwise.program.cli.signal.getsignal', {signal.SIGHUP: signal.SIG_IGN}.get
    )
    run_main(monkeypatch, '--version')
    assert sorted(handlers) == [signal.SIGTERM, signal.SIGCHLD]


# Endings


def test_control_characters_of_a_message_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_exit(CommandExit('cannot read \x1b[2J', Exit.NO_INPUT)) is Exit.NO_INPUT
    assert capsys.readouterr().err == 'seamwise: cannot read \\x1b[2J\n'


def test_os_error_without_a_reason_is_shown_itself() -> None:
    assert os_error_exit('read', OSError('odd'), Exit.NO_INPUT).message == 'cannot read: odd'


def test_buffer_of_a_closed_output_is_discarded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / 'out'
    with file.open('w') as stream:
        monkeypatch.setattr(sys, 'stdout', stream)
        stream.write('left in the buffer')
        assert stdout_error_exit(BrokenPipeError()).code is Exit.READER_GONE
        stream.flush()
    assert file.read_text() == ''


@pytest.mark.parametrize('stdout', [StringIO(), None])
def test_output_without_a_file_descriptor_is_not_discarded(
    monkeypatch: pytest.MonkeyPatch, stdout: StringIO | None
) -> None:
    monkeypatch.setattr(sys, 'stdout', stdout)
    assert stdout_error_exit(OSError(28, 'full')).code is Exit.CANNOT_WRITE


# The log


def test_log_is_redacted_and_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    with log_to_stderr():
        logging.getLogger('seamwise').error('password=hunter2 \x1b[2J\nsecond line')
    logging.getLogger('seamwise').debug('not any more')
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith(' ERROR password=*** \\x1b[2J')
    assert second == 'second line'
    assert logging.getLogger('seamwise').handlers == []


# Progress


class FakeTerminal(StringIO):
    @override
    def isatty(self) -> bool:
        return True


@contextmanager
def run_calls(
    number: int, *, source: str | Path, stdout: TextIO, stderr: TextIO | None
) -> Generator[None, None, None]:
    """Show the progress of this number of calls; yield before the progress is closed."""
    with Path(source).open('rb') as calls, progress(calls, stdout=stdout, stderr=stderr) as pause:
        for index in range(number):
            calls.read(9)
            with pause():
                stdout.write(f'output {index}\n')
        yield


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> FakeTerminal:
    monkeypatch.setenv('TERM', 'xterm')
    monkeypatch.delenv('NO_COLOR', raising=False)
    return FakeTerminal()


def test_progress_shows_the_number_of_finished_calls(tmp_path: Path, screen: FakeTerminal) -> None:
    file = tmp_path / 'calls'
    file.write_bytes(b'x' * 100)
    with run_calls(11, source=file, stdout=StringIO(), stderr=screen):
        pass
    assert '11 calls' in screen.getvalue()


def test_progress_without_a_file_size_shows_the_count_only(screen: FakeTerminal) -> None:
    with run_calls(10, source='/dev/null', stdout=StringIO(), stderr=screen):
        pass
    assert '10 calls' in screen.getvalue()


def test_progress_is_not_shown_for_a_few_calls(screen: FakeTerminal) -> None:
    with run_calls(9, source='/dev/null', stdout=StringIO(), stderr=screen):
        pass
    assert screen.getvalue() == ''


CLEARED = '\x1b[1A\x1b[2K'
"""Escape sequence that clears the progress line."""


def test_progress_is_cleared_before_output_on_the_same_terminal(screen: FakeTerminal) -> None:
    with run_calls(12, source='/dev/null', stdout=screen, stderr=screen):
        assert not screen.getvalue().endswith(CLEARED), 'it shows while a call runs'
    output = screen.getvalue()
    assert [item for item in ('10 calls', '11 calls', '12 calls') if item in output] == [
        '10 calls',
        '11 calls',
        '12 calls',
    ]
    for number in (10, 11):
        assert f'{CLEARED}output {number}\n' in output
    assert output.endswith(CLEARED)


def test_progress_is_cleared_before_a_fatal_error_is_shown(screen: FakeTerminal) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        run_calls(12, source='/dev/null', stdout=StringIO(), stderr=screen),
    ):
        raise KeyboardInterrupt
    assert screen.getvalue().endswith(CLEARED)


@pytest.mark.parametrize('stderr', [StringIO(), None])
def test_progress_is_shown_on_terminals_only(stderr: StringIO | None) -> None:
    with run_calls(20, source='/dev/null', stdout=StringIO(), stderr=stderr):
        pass
    assert stderr is None or stderr.getvalue() == ''


def test_progress_is_not_shown_if_the_terminal_cannot_clear_a_line(
    screen: FakeTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('TERM', 'dumb')
    with run_calls(20, source='/dev/null', stdout=StringIO(), stderr=screen):
        pass
    assert screen.getvalue() == ''


def test_progress_is_not_shown_if_output_goes_to_a_pipe(screen: FakeTerminal) -> None:
    reading, writing = os.pipe()
    with (
        os.fdopen(reading),
        os.fdopen(writing, 'w') as stdout,
        run_calls(20, source='/dev/null', stdout=stdout, stderr=screen),
    ):
        pass
    assert screen.getvalue() == ''


def test_progress_is_not_shown_if_calls_are_typed(screen: FakeTerminal) -> None:
    controller_fd, terminal_fd = os.openpty()
    try:
        with (
            open(terminal_fd, 'rb', closefd=False) as keyboard,
            progress(keyboard, stdout=StringIO(), stderr=screen) as pause,
        ):
            for _ in range(20):
                with pause():
                    pass
    finally:
        os.close(controller_fd)
        os.close(terminal_fd)
    assert screen.getvalue() == ''


# Standard error


def test_unwritable_standard_error_does_not_change_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / 'err').open('w') as stream:
        monkeypatch.setattr(sys, 'stderr', stream)
        monkeypatch.setattr(
            'seamwise.program.console.click.echo',
            raise_error(OSError(28, 'No space left on device')),
        )
        assert run_main(monkeypatch, 'rnu') == 2
        stream.write('left in the buffer')
    assert (tmp_path / 'err').read_text() == ''


def test_messages_are_dropped_without_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, 'stderr', None)
    assert run_main(monkeypatch, 'rnu') == 2
    assert capsys.readouterr().out == ''


def test_control_characters_of_an_invalid_option_are_escaped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(monkeypatch, '--\x1b[2J') == 2
    assert '\x1b' not in capsys.readouterr().err


def test_choice_suggests_a_close_value() -> None:
    choice = Choice(['cli', 'http'])
    assert choice.get_invalid_choice_message('htpp', None).endswith("Did you mean 'http'?")
    assert choice.get_invalid_choice_message('x', None) == "'x' is not one of 'cli', 'http'."


def test_start_is_a_function_of_the_module_cli() -> None:
    assert cli.start.__module__ == 'seamwise.program.cli'
