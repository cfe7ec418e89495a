"""Isolated tools: their results, their limits, and the end of everything that they start."""

import asyncio
import datetime
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seamwise import Failure, Result, Success
from seamwise._defects.exception_kinds import WorkerException
from seamwise._errors.causes import Raised
from seamwise.catalog.problem import Problem
from seamwise.catalog.tools import InvalidResult, ResourceExhausted, ToolFailed, ToolTimedOut
from seamwise.testing import assert_failure, assert_success
from seamwise.toolhost import Processor, ToolLimits, tool
from seamwise.toolhost.containment.importable import ImportName, import_name
from seamwise.toolhost.running import isolated
from seamwise.toolhost.running.isolated import ProcessEnded
from tests.toolhost.builtin.processes.helpers import LONG_TIMEOUT, is_running
from tests.toolhost.running import isolated_tools
from tests.toolhost.running.isolated_tools import Refused, Report, Surroundings

pytestmark = pytest.mark.slow

TOOLS = (
    isolated_tools.look
    | isolated_tools.report
    | isolated_tools.power
    | isolated_tools.anything
    | isolated_tools.fail
    | isolated_tools.write
    | isolated_tools.answer
    | isolated_tools.allocate
    | isolated_tools.ignore_signals
    | isolated_tools.spawn
    | isolated_tools.start_many
    | isolated_tools.fork_and_return
    | isolated_tools.stop_supervisor
    | tool(isolated=ToolLimits(seconds=20))(isolated_tools.plain)
)


def run(name: str, **arguments: object) -> Result[object, object]:
    async def main() -> Result[object, object]:
        async with Processor(TOOLS, timeout=60.0) as processor:
            (outcome,) = await processor.run({'name': name, 'arguments': arguments})
        return outcome.result

    return asyncio.run(main())


def pids_in(folder: Path) -> list[int]:
    return [int(file.name) for file in folder.iterdir()]


def wait_for_files(folder: Path, count: int) -> list[int]:
    deadline = time.monotonic() + LONG_TIMEOUT
    while len(pids := pids_in(folder)) < count and time.monotonic() < deadline:
        time.sleep(0.01)
    return pids


def wait_for_all(pids: list[int]) -> bool:
    deadline = time.monotonic() + LONG_TIMEOUT / 2
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(is_running, pids))


class TestResults:
    def test_a_struct_comes_back_typed(self) -> None:
        assert run('report', day='2026-01-02', data='AAE=') == Success(
            Report(datetime.date(2026, 1, 2), (1, 2**60), b'\0\1')
        )

    def test_a_function_of_another_module_can_be_isolated(self) -> None:
        assert run('plain', day='2026-01-02') == Success(Report(datetime.date(2026, 1, 2), ()))

    def test_a_tagged_error_comes_back_typed(self) -> None:
        assert run('report', day='2026-01-02') == Failure(Refused('no data', count=3))

    def test_an_integer_of_any_size_comes_back(self) -> None:
        assert run('power', exponent=3000) == Success(2**3000)

    def test_a_value_without_a_declared_type_arrives_exactly_or_not_at_all(self) -> None:
        value = assert_success(run('anything', kind='plain'))
        assert str(value) == "{'a': [1, None, 'x', 0.1, b'\\x00']}"
        for kind, reason in {'tuple': 'another type', 'object': 'object'}.items():
            error = assert_failure(run('anything', kind=kind), InvalidResult)
            assert error.problems[0].message.startswith('cannot be sent from a process')
            assert reason in error.problems[0].message

    def test_a_number_that_json_cannot_represent_is_an_invalid_result(self) -> None:
        error = assert_failure(run('anything', kind='infinity'), InvalidResult)
        assert error.problems == (Problem('/a/1', 'must be a finite number, not inf'),)

    @pytest.mark.parametrize('kind', ['undeclared', 'wrong'])
    def test_a_result_that_breaks_the_declaration_is_invalid(self, kind: str) -> None:
        assert_failure(run('fail', kind=kind), InvalidResult)

    def test_an_exception_is_as_retryable_as_in_this_process(self) -> None:
        error = assert_failure(run('fail', kind='connection'), ToolFailed)
        assert error.retryable
        assert isinstance(error.cause, WorkerException)
        assert str(error.cause) == 'ConnectionLost: password=***'

    def test_a_raised_error_keeps_its_type(self) -> None:
        error = assert_failure(run('fail', kind='raised'), ToolFailed)
        assert isinstance(error.cause, Raised)
        assert error.cause.error == Refused('raised')
        assert not error.retryable

    def test_a_bug_of_the_tool_is_logged_with_its_own_traceback(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        error = assert_failure(run('fail', kind='bug'), ToolFailed)
        assert error.defect is error.cause
        assert isinstance(error.cause, WorkerException)
        assert 'raise KeyError(kind)' in error.cause.__notes__[0]

    @pytest.mark.parametrize(
        ('kind', 'text'),
        [
            ('exit', 'status 3'),
            ('kill', 'status -9'),
            ('forged', 'unreadable answer'),
            ('system_exit', 'SystemExit: 4'),
        ],
    )
    def test_a_process_without_an_answer_is_a_failure(self, kind: str, text: str) -> None:
        error = assert_failure(run('fail', kind=kind), ToolFailed)
        assert text in str(error.cause)

    def test_a_process_that_forks_answers_once(self) -> None:
        assert run('fork_and_return') == Success(1)


class TestSurroundings:
    def test_a_process_has_nothing_of_the_parent(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv('API_KEY', 'secret')
        monkeypatch.setenv('LANG', 'C.UTF-8')
        with (tmp_path / 'open').open('w') as stream:
            os.set_inheritable(stream.fileno(), True)
            process = assert_success(run('look'))
        assert isinstance(process, Surroundings)
        assert process.environment.keys() == {'PATH', 'LANG', 'PYTHONPATH'}
        assert (process.files, process.input) == ([], '')
        targets = process.descriptors
        assert not [target for target in targets if target.startswith(str(tmp_path))]
        assert len([target for target in targets if target.startswith('pipe:')]) == 3
        assert not [target for target in targets if target.startswith('socket:')]
        assert [entry for entry in sys.path if entry and entry not in process.path] == []
        assert not Path(process.folder).exists()

    def test_the_text_of_a_tool_does_not_reach_the_caller(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        run('report', day='2026-01-02', data='AAE=')
        assert capfd.readouterr() == ('', '')


class TestLimits:
    @pytest.mark.parametrize('arguments', [{'size': 2**30}, {'size': 2**29, 'children': 8}])
    def test_memory_is_limited_over_all_processes(self, arguments: dict[str, int]) -> None:
        assert run('allocate', **arguments) == Failure(ResourceExhausted('memory'))
        assert run('allocate', size=2**20) == Success(2**20)

    @pytest.mark.parametrize(
        ('name', 'arguments'),
        [('write', {}), ('write', {'target': 2}), ('write', {'target': 3}), ('answer', {})],
    )
    def test_the_output_is_limited(self, name: str, arguments: dict[str, int]) -> None:
        error = assert_failure(run(name, size=20_000_000, **arguments), ToolFailed)
        assert str(error.cause) == 'The tool wrote more than 100000 bytes.'
        assert_success(run('write', size=50_000))

    def test_a_tool_that_ignores_signals_times_out(self, tmp_path: Path) -> None:
        assert run('ignore_signals', folder=str(tmp_path)) == Failure(
            ToolTimedOut('ignore_signals', 1, 1)
        )
        assert not any(map(is_running, pids_in(tmp_path)))

    def test_the_number_of_processes_is_limited(self) -> None:
        error = assert_failure(run('start_many'), ToolFailed)
        assert isinstance(error.cause, ProcessEnded)
        assert 'more than 64 processes' in str(error.cause)


class TestTheEnd:
    def test_processes_that_left_the_session_end_with_the_call(self, tmp_path: Path) -> None:
        assert run('spawn', folder=str(tmp_path), count=20) == Success(20)
        pids = pids_in(tmp_path)
        assert len(pids) == 20
        assert not any(map(is_running, pids))

    def test_a_tool_that_kills_its_supervisor_fails_and_ends(self, tmp_path: Path) -> None:
        result = run('spawn', folder=str(tmp_path), count=0, attack=True, wait=True)
        error = assert_failure(result, ToolFailed)
        assert 'supervisor' in str(error.cause)
        assert wait_for_all(pids_in(tmp_path))

    def test_a_tool_that_stops_its_supervisor_times_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(isolated, 'STALL_SECONDS', 0.5)
        assert_failure(run('stop_supervisor', folder=str(tmp_path)), ToolTimedOut)
        assert wait_for_all(pids_in(tmp_path))

    def test_everything_has_ended_when_a_cancelled_call_returns(self, tmp_path: Path) -> None:
        async def main() -> None:
            async with Processor(TOOLS) as processor:
                calls = {
                    'name': 'spawn',
                    'arguments': {'folder': str(tmp_path), 'count': 5, 'wait': True},
                }
                task = asyncio.create_task(processor.run(calls))
                await asyncio.to_thread(wait_for_files, tmp_path, 6)
                task.cancel()
                # A second cancellation does not shorten the wait.
                asyncio.get_running_loop().call_soon(task.cancel)
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert not any(map(is_running, pids_in(tmp_path)))

        asyncio.run(main())
        assert len(pids_in(tmp_path)) == 6

    def test_the_timeout_of_the_processor_ends_the_processes(self, tmp_path: Path) -> None:
        async def main() -> Result[object, object]:
            async with Processor(TOOLS, timeout=3.0) as processor:
                arguments = {'folder': str(tmp_path), 'count': 2, 'wait': True}
                (outcome,) = await processor.run({'name': 'spawn', 'arguments': arguments})
                return outcome.result

        assert_failure(asyncio.run(main()), ToolTimedOut)
        assert not any(map(is_running, pids_in(tmp_path)))

    def test_everything_ends_with_a_caller_that_is_killed(self, tmp_path: Path) -> None:
        script = KILLED_CALLER.format(folder=str(tmp_path))
        with subprocess.Popen([sys.executable, '-c', script], stderr=subprocess.DEVNULL) as caller:
            pids = wait_for_files(tmp_path, 6)
            caller.kill()
        assert len(pids) == 6
        assert wait_for_all(pids)

    def test_calls_at_once_do_not_disturb_each_other(self) -> None:
        async def main() -> list[object]:
            async with Processor(TOOLS, timeout=60.0) as processor:
                calls = [{'name': 'power', 'arguments': {'exponent': n}} for n in range(4)]
                return [outcome.result for outcome in await processor.run(calls)]

        assert asyncio.run(main()) == [Success(2**n) for n in range(4)]


KILLED_CALLER = """
import asyncio
from seamwise.toolhost import Processor
from tests.toolhost.running.isolated_tools import spawn

async def main():
    async with Processor(spawn, timeout=60.0) as processor:
        arguments = {{'folder': {folder!r}, 'count': 5, 'wait': True}}
        await processor.run({{'name': 'spawn', 'arguments': arguments}})

asyncio.run(main())
"""

MAIN_SCRIPT = """
import asyncio
from seamwise.toolhost import Processor, ToolLimits, tool

@tool(isolated=ToolLimits())
def name() -> str:
    return __name__

async def main():
    async with Processor(name) as processor:
        (outcome,) = await processor.run({'name': 'name', 'arguments': {}})
        print(outcome.result)

if __name__ == '__main__':
    asyncio.run(main())
"""


class TestImports:
    @pytest.mark.parametrize('arguments', [['main_of_test.py'], ['-m', 'main_of_test']])
    def test_a_tool_of_the_main_module_runs(self, tmp_path: Path, arguments: list[str]) -> None:
        (tmp_path / 'main_of_test.py').write_text(MAIN_SCRIPT)
        process = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(map(os.path.abspath, sys.path))},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (process.stdout, process.stderr) == ("Success('__mp_main__')\n", '')

    def test_a_tool_of_an_interactive_session_is_refused(self) -> None:
        process = subprocess.run(
            [sys.executable, '-c', MAIN_SCRIPT], capture_output=True, text=True, check=False
        )
        assert 'TypeError: name cannot run in a process of its own' in process.stderr
        assert 'interactive session' in process.stderr

    def test_functions_without_an_import_are_refused(self) -> None:
        with pytest.raises(TypeError, match=r'a lambda has no name'):
            import_name(lambda: 1)
        with pytest.raises(TypeError, match=r'method of an object'):
            tool(isolated=ToolLimits())(Path('/').exists)
        assert import_name(run) == ImportName(__name__, 'run')
