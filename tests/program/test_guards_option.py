"""`seamwise run --guards FILE`: errors of the file, and output of attempts and waits."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from msgspec import Struct
from msgspec.structs import replace

from seamwise import Failure, Success
from seamwise import Result as Outcome
from seamwise._defects.defects import report_defect
from seamwise._runtime.fake_world import FakeWorld
from seamwise.catalog.tools import ResourceExhausted, ToolError
from seamwise.policies.config.schema import field_types, struct_types
from seamwise.policies.config.toml_document import MAX_CONFIG_SIZE
from seamwise.policies.retry import retry
from seamwise.program.outputs import OUTPUTS, CallResult, Defect, retry_summary
from seamwise.program.rendering import json_renderer, text_renderer
from seamwise.program.run import command as run
from seamwise.toolhost.builtin import workspace_tools
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.calls import InputLine, ToolCall
from seamwise.toolhost.guards.config import ToolGuards, parse_guards
from seamwise.toolhost.guards.guarded_call import CallStats, GuardedRunner, record_event

from .helpers import COMMAND, SEAMS, call, objects
from .helpers import run as run_process
from .test_process import WAIT, is_readable, start_command, streams

ROOT = Path(__file__).parents[2]
DOCUMENTED = re.findall(
    r'^```toml\n(.*?)^```$',
    (ROOT / 'docs' / 'run.md').read_text(encoding='utf-8'),
    re.MULTILINE | re.DOTALL,
)
EXAMPLES = [(ROOT / 'examples' / 'guards.toml').read_text(encoding='utf-8'), *DOCUMENTED]
QUICK = 'base = 0.02, jitter = "none"'
TIMEOUT = 0.1
ENDLESS = {'pattern': '(a+)+$', 'timeout': TIMEOUT}
SEARCH = call('search_files', id='s', **ENDLESS)
READ = call('read_file', id='r', path='a.txt')


@pytest.fixture
def folder(workspace: Path) -> Path:
    (workspace / 'endless.txt').write_text('a' * 40 + 'b')
    return workspace


def write_guards(folder: Path, text: str | bytes) -> Path:
    file = folder.parent / 'guards.toml'
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def invoke(folder: Path, guards: str | bytes | Path, calls: str, *more: str) -> Result:
    file = guards if isinstance(guards, Path) else write_guards(folder, guards)
    return CliRunner().invoke(
        run,
        ['--workspace', str(folder), '--guards', str(file), *more],
        input=calls,
        prog_name='seamwise run',
    )


def lines(
    folder: Path, guards: str, calls: str, seam: str = 'all', *more: str
) -> list[dict[str, Any]]:
    done = invoke(folder, guards, calls, '--seam', seam, *more)
    assert done.stderr == ''
    return objects(done.stdout)


# The file


class TestInvalidFile:
    def error_output(self, folder: Path, guards: str | bytes) -> str:
        done = invoke(
            folder, guards, call('write_file', path='new.txt', content=''), '--seam', 'all'
        )
        assert (done.exit_code, done.stdout) == (78, '')
        assert not (folder / 'new.txt').exists(), 'no call runs'
        return done.stderr.replace(str(folder.parent), '')

    def test_unknown_key_is_shown_with_its_line_and_a_caret(self, folder: Path) -> None:
        assert self.error_output(folder, '# mine\n[default.retry]\n  atempts = 3 # three\n') == (
            "The configuration in '/guards.toml' is not valid.\n"
            'at /guards.toml:3:3\n'
            '    atempts = 3 # three\n'
            '    ^\n'
            "hint: /default/retry/atempts: is not a known key (did you mean 'attempts'?).\n"
        )

    def test_all_errors_are_shown_in_the_order_of_the_file(self, folder: Path) -> None:
        output = self.error_output(
            folder,
            '[tools.raed_file]\n[default]\ndeadline = { secnds = 1 }\nretry.jitter = "ful"\n',
        )
        assert [line for line in output.splitlines() if line.startswith(('at ', 'hint: '))] == [
            'at /guards.toml:1:8',
            (
                'hint: /tools/raed_file: is not a known tool '
                "(did you mean 'read_file', 'write_file' or 'replace_in_file'?)."
            ),
            'at /guards.toml:3:1',
            "hint: /default/deadline: needs the key 'seconds'.",
            'at /guards.toml:3:14',
            "hint: /default/deadline/secnds: is not a known key (did you mean 'seconds'?).",
            'at /guards.toml:4:7',
            (
                "hint: /default/retry/jitter: must be 'full', 'equal', 'tenth', 'decorrelated' "
                "or 'none', not a string (did you mean 'full'?)."
            ),
        ]

    def test_invalid_number_is_shown_with_its_position(self, folder: Path) -> None:
        output = self.error_output(
            folder, '[default]\n[tools."execute_command"]\n"retry" = { base = 0.5, attempts = -1 }'
        )
        assert 'at /guards.toml:3:25\n  "retry" = { base = 0.5, attempts = -1 }\n' in output
        assert 'attempts must be 1 or more, not -1.' in output

    def test_invalid_toml_is_shown_with_its_position(self, folder: Path) -> None:
        output = self.error_output(folder, '[default]\nretry = attempts\n')
        assert output == (
            "'/guards.toml' cannot be read: invalid value.\n"
            'at /guards.toml:2:9\n  retry = attempts\n          ^\n'
        )

    def test_invalid_utf_8_is_shown_with_its_position(self, folder: Path) -> None:
        assert self.error_output(folder, b'[default]\n# \xc3\xa9 \xff\n') == (
            "'/guards.toml' cannot be read: this is not UTF-8.\n"
            'at /guards.toml:2:5\n  # é \ufffd\n      ^\n'
        )

    def test_invalid_utf_8_after_a_byte_order_mark_is_shown_with_its_position(
        self, folder: Path
    ) -> None:
        assert 'at /guards.toml:2:5\n  # é \ufffd\n      ^\n' in self.error_output(
            folder, b'\xef\xbb\xbf[default]\n# \xc3\xa9 \xff\n'
        )

    @pytest.mark.parametrize(
        ('guards', 'detail'),
        [
            (b'\0' * (MAX_CONFIG_SIZE + 1), 'has more than 262,144 bytes'),
            ('a = ' + '{a = ' * 2_000 + '1' + '}' * 2_000, 'is nested too deeply'),
        ],
    )
    def test_unparsable_file_is_shown_from_its_start(
        self, folder: Path, guards: str | bytes, detail: str
    ) -> None:
        output = self.error_output(folder, guards)
        assert output.splitlines()[1] == 'at /guards.toml:1:1'
        assert output.endswith(f'hint: the file: {detail}.\n')

    @pytest.mark.slow
    def test_file_is_searched_once_for_any_number_of_errors(self, folder: Path) -> None:
        guards = ''.join(f'k{number} = 1\n' for number in range(3_000))
        started_at = time.monotonic()
        output = self.error_output(folder, guards)
        assert time.monotonic() - started_at < 30.0
        assert output.endswith('\n\n… (2900 more)\n')

    def test_oversized_file_is_not_read_completely(self, folder: Path) -> None:
        assert 'hint: the file: has more than 262,144 bytes.' in self.error_output(
            folder, b'#' * (MAX_CONFIG_SIZE + 1)
        )

    def test_errors_contain_no_secret(self, folder: Path) -> None:
        assert 'hunter2' not in self.error_output(
            folder, '[default.retry]\npassword = "hunter2"\nname = 7 # password=hunter2\n'
        )


def test_empty_file_name_is_not_the_current_folder(folder: Path) -> None:
    done = CliRunner().invoke(
        run, ['--workspace', str(folder), '--seam', 'model', '--guards', ''], input=READ
    )
    assert (done.exit_code, done.stderr) == (
        66,
        "seamwise: cannot read '': No such file or directory\n",
    )


@pytest.mark.parametrize(
    ('name', 'reason'), [('gone.toml', 'No such file or directory'), ('ws', 'Is a directory')]
)
def test_unreadable_guards_file_exits_with_66(folder: Path, name: str, reason: str) -> None:
    file = folder.parent / name
    done = invoke(folder, file, READ, '--seam', 'model')
    assert (done.exit_code, done.stdout) == (66, '')
    assert done.stderr == f'seamwise: cannot read {str(file)!r}: {reason}\n'


def test_guards_file_is_read_once_even_from_a_pipe(folder: Path) -> None:
    done = run_process(
        'run',
        '--workspace',
        folder,
        '--seam',
        'model',
        '--guards',
        '/dev/stdin',
        calls='[default.rety]',
    )
    assert done.returncode == 78
    assert b'\n  [default.rety]\n           ^\n' in done.stderr


def test_guards_file_errors_do_not_need_standard_error(folder: Path) -> None:
    file = write_guards(folder, 'x = 1')
    command = [
        *COMMAND,
        'run',
        '--workspace',
        str(folder),
        '--seam',
        'model',
        '--guards',
        str(file),
    ]
    for closed in ('2>&-', '2>/dev/full'):
        done = subprocess.run(
            ['/bin/sh', '-c', f'exec "$@" {closed}', 'sh', *command],
            capture_output=True,
            check=False,
            timeout=WAIT,
        )
        assert (done.returncode, done.stdout, done.stderr) == (78, b'', b'')


@pytest.mark.parametrize('text', EXAMPLES)
def test_documented_guards_file_is_valid(text: str, tmp_path: Path) -> None:
    tools = workspace_tools(Workspace(tmp_path))
    assert type(parse_guards(text.encode(), 'guards.toml', tools=tools)) is Success


def tables_in(struct: type[Struct]) -> Iterator[type[Struct]]:
    """Yield the Structs of all tables that a table can contain."""
    for name in struct.__struct_fields__:
        for table in struct_types(field_types([struct], name)):
            yield table
            yield from tables_in(table)


def test_every_key_is_documented() -> None:
    pages = (ROOT / 'docs' / 'run.md', ROOT / 'docs' / 'guards' / 'configuration.md')
    page = ''.join(path.read_text(encoding='utf-8') for path in pages)
    for struct in tables_in(ToolGuards):
        assert all(
            f'`{name}' in page or f'{name} =' in page for name in struct.__struct_fields__
        ), struct


# The output


def test_every_line_contains_attempts_and_waits(folder: Path) -> None:
    result = lines(
        folder,
        f'[default]\nretry = {{ attempts = 3, {QUICK} }}',
        READ + SEARCH + '{\n' + call('reed', id='x'),
    )
    assert all(
        list(item) == ['id', 'line', 'seam', 'ok', 'attempts', 'waited_ms', 'output']
        for item in result
    )
    assert [item['attempts'] for item in result] == [1] * 7 + [3] * 7 + [0] * 14
    assert all(60 <= item['waited_ms'] < 2_000 for item in result[7:14])
    assert all(item['waited_ms'] == 0 for item in result[14:])


def test_lines_without_guards_have_no_attempts(folder: Path) -> None:
    done = CliRunner().invoke(
        run, ['--workspace', str(folder), '--seam', 'all'], input=READ + SEARCH
    )
    assert [list(item) for item in objects(done.stdout)] == [
        ['id', 'line', 'seam', 'ok', 'output']
    ] * 14


def test_call_with_one_attempt_is_shown_as_without_guards_except_in_the_log(folder: Path) -> None:
    plain = CliRunner().invoke(
        run,
        ['--workspace', str(folder), '--seam', 'all'],
        input=READ + call('read_file', id='g', path='gone'),
    )
    guarded = lines(
        folder, '[default]\nretry = {}\ncircuit = {}', READ + call('read_file', id='g', path='gone')
    )
    for plain_line, guarded_line in zip(objects(plain.stdout), guarded, strict=True):
        expected = plain_line['output']
        if guarded_line['seam'] == 'log':
            expected = [expected] if expected else []
        assert without_varying_parts(guarded_line['output']) == without_varying_parts(expected)


def without_varying_parts(value: object) -> str:
    """Return the JSON without times, which vary, and without the attempt, which guards add."""
    return re.sub(r'"timestamp":"[^"]*",?|,"attempt":1', '', msgspec.json.encode(value).decode())


@pytest.fixture(scope='module')
def failed_search(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the output of each seam for a search that failed after three attempts."""
    folder = tmp_path_factory.mktemp('failed') / 'ws'
    folder.mkdir()
    (folder / 'endless.txt').write_text('a' * 40 + 'b')
    return {
        line['seam']: line
        for line in lines(
            folder,
            f'[default]\nretry = {{ attempts = 3, {QUICK} }}',
            SEARCH,
            'all',
            '--locale',
            'zh_CN',
        )
    }


def have_an_attempt_between(timestamps: list[str]) -> list[bool]:
    """Return for each time except the first whether an attempt precedes it."""
    return [
        later - earlier >= timedelta(seconds=TIMEOUT)
        for earlier, later in pairwise(map(datetime.fromisoformat, timestamps))
    ]


class TestFailureAfterRetries:
    def test_failure_has_a_hint_at_a_terminal(self, failed_search: dict[str, Any]) -> None:
        *_, last = failed_search['cli']['output']['text'].splitlines()
        assert (
            last == f'hint: tried 3 times, waited {failed_search["cli"]["waited_ms"] / 1000:g} s.'
        )

    def test_session_receives_each_attempt_and_the_end(self, failed_search: dict[str, Any]) -> None:
        output = failed_search['session']['output']
        assert [item['event'] for item in output] == [
            'error.timeout',
            'error.retry_attempt',
            'error.timeout',
            'error.retry_attempt',
            'error.recovery_failed',
            'agent.error',
        ]
        attempts = [
            (item['metadata'].get('attempt'), item['metadata'].get('retry_after_ms'))
            for item in output
        ]
        assert attempts == [(1, 20), (1, 20), (2, 40), (2, 40), (3, None), (3, None)]
        assert {item['metadata']['operation'] for item in output} == {'search_files'}
        assert output[1]['show_content'].startswith('第 1 次')
        assert have_an_attempt_between([item['metadata']['timestamp'] for item in output]) == [
            False,
            True,
            False,
            True,
            False,
        ]

    def test_log_contains_one_record_per_attempt(self, failed_search: dict[str, Any]) -> None:
        output = failed_search['log']['output']
        assert [item['level'] for item in output] == ['info', 'info', 'error']
        assert all(
            item['error_type'] == 'ToolTimedOut' and item['params'] == ENDLESS for item in output
        )
        assert have_an_attempt_between([item['timestamp'] for item in output]) == [True, True]

    def test_only_the_planner_sees_the_attempts(self, failed_search: dict[str, Any]) -> None:
        assert failed_search['planner']['output']['details']['attempts'] == 3
        # HTTP shows no details of a timeout.
        assert 'attempts' not in failed_search['http']['output']['body']['error'].get('details', {})

    def test_model_suggestion_ends_with_the_attempts(self, failed_search: dict[str, Any]) -> None:
        waited = failed_search['model']['waited_ms'] / 1000
        suggestion = (
            'Request less at a time; a call is stopped after 0.1 s. '
            f'So far: tried 3 times, waited {waited:g} s.'
        )
        assert failed_search['model']['output']['suggestion'] == suggestion
        [content] = failed_search['jsonrpc']['output']['result']['content']
        assert json.loads(content['text']) == failed_search['model']['output']


def test_refusal_of_a_guard_is_shown_at_every_seam(folder: Path) -> None:
    guards = '[default.rate_limit]\nlimit = 1\nperiod = 1000\n'
    by_seam = {
        line['seam']: line
        for line in lines(folder, guards, READ + call('read_file', id='again', path='a.txt'))[7:]
    }
    assert list(by_seam) == SEAMS
    assert all(
        (item['ok'], item['attempts']) == (False, 0) and item['waited_ms'] < 500
        for item in by_seam.values()
    )
    output = {seam: line['output'] for seam, line in by_seam.items()}
    assert output['cli']['exit_code'] == 75
    assert 'tried' not in output['cli']['text']
    assert output['http']['status'] == 429
    assert [item['event'] for item in output['session']] == ['error.rate_limited']
    assert output['session'][0]['metadata']['operation'] == 'read_file'
    assert output['model']['error_class'] == 'RateLimited'
    assert output['planner']['code'] == 'TOOL_RATE_LIMITED'
    assert [item['error_type'] for item in output['log']] == ['RateLimited']
    assert output['jsonrpc']['result']['isError'] is True


def test_circuit_of_a_failing_tool_does_not_block_others(folder: Path) -> None:
    guards = '[default.circuit]\ntrip = { consecutive = 1 }\n'
    result = lines(
        folder, guards, SEARCH + call('search_files', id='s2', limit=1, **ENDLESS) + READ, 'session'
    )
    assert [item['attempts'] for item in result] == [1, 0, 1]
    kinds = [[event['metadata']['error_type'] for event in item['output']] for item in result]
    assert kinds == [['ToolTimedOut'], ['CircuitOpen'], []], 'each failure is reported once'


def test_deadline_under_a_retry_publishes_one_event_per_attempt(folder: Path) -> None:
    guards = f'[default]\nretry = {{ attempts = 2, {QUICK} }}\ndeadline.seconds = 0.1\n'
    [result] = lines(folder, guards, call('search_files', pattern='(a+)+$'), 'session')
    assert [item['event'] for item in result['output']] == [
        'error.timeout',
        'error.retry_attempt',
        'error.recovery_failed',
        'agent.error',
    ]
    assert {item['metadata']['error_code'] for item in result['output']} == {
        'ERR_TIMEOUT_006',
        'ERR_RECOVERY_001',
    }


def test_deadline_without_a_retry_publishes_one_event(folder: Path) -> None:
    [result] = lines(
        folder,
        '[default]\ndeadline.seconds = 0.1\n',
        call('search_files', pattern='(a+)+$'),
        'session',
    )
    assert [item['metadata']['error_type'] for item in result['output']] == ['DeadlineExceeded']


@pytest.mark.slow
def test_timed_out_command_is_not_retried_unless_repeatable(folder: Path) -> None:
    calls = call('execute_command', command='echo x >> count; sleep 9', timeout=1.0)
    [result] = lines(folder, f'[default]\nretry = {{ {QUICK} }}', calls, 'session')
    assert (result['attempts'], (folder / 'count').read_text()) == (1, 'x\n')
    assert [item['event'] for item in result['output']] == ['error.timeout']
    guards = (
        f'[default]\nretry = {{ attempts = 2, {QUICK} }}\n'
        '[tools.execute_command]\nrepeatable = true\n'
    )
    [result] = lines(folder, guards, calls, 'session')
    assert (result['attempts'], (folder / 'count').read_text()) == (2, 'x\n' * 3)


def run_play(*outcomes: Outcome[Struct, ToolError] | Exception) -> CallResult:
    """Run a call whose attempts return or raise these outcomes, in order."""
    world, stats, next_outcomes = FakeWorld(), CallStats(), iter(outcomes)
    guard = retry(
        attempts=3, base=0.5, jitter='none', name='play', observer=record_event, world=world
    )

    def operation() -> Outcome[Struct, ToolError]:
        outcome = next(next_outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    line = InputLine(1, 'p', Success(ToolCall('play', {}, id='p', line=1)))
    try:
        return CallResult(
            line,
            GuardedRunner({'play': guard}, clock=world.clock).run('play', operation, stats=stats),
            'en',
            stats,
        )
    except ZeroDivisionError as error:
        return CallResult(line, Defect(error, report_defect(error).ref), 'en', stats)


class Played(Struct, frozen=True):
    score: int


FULL: Outcome[Struct, ToolError] = Failure(ResourceExhausted('memory'))


class TestSuccessAfterRetries:
    result = run_play(FULL, FULL, Success(Played(7)))

    def test_value_is_unchanged_at_seams_that_show_it(self) -> None:
        plain = replace(self.result, stats=None)
        for seam in ('cli', 'model', 'planner', 'jsonrpc'):
            assert OUTPUTS[seam](self.result) == OUTPUTS[seam](plain)

    def test_attempts_are_shown_after_ok_at_a_terminal(self) -> None:
        [chunk] = text_renderer(StringIO())(self.result)
        assert chunk.data == b'p play: ok (tried 3 times, waited 1.5 s)\nscore: 7\n\n'
        [chunk] = text_renderer(StringIO())(run_play(Success(Played(7))))
        assert chunk.data == b'p play: ok\nscore: 7\n\n'

    def test_session_and_log_receive_each_failed_attempt(self) -> None:
        output: Any = msgspec.to_builtins(OUTPUTS['session'](self.result))
        assert [item['event'] for item in output] == ['error.resource', 'error.retry_attempt'] * 2
        records: Any = msgspec.to_builtins(OUTPUTS['log'](self.result))
        assert [(record['level'], record['error_type']) for record in records] == [
            ('info', 'ResourceExhausted')
        ] * 2


class TestDefectAfterRetries:
    result = run_play(FULL, ZeroDivisionError('FAKE-detail'))

    def test_defect_is_reported_after_the_failed_attempts(self) -> None:
        [line] = [json.loads(item.data) for item in json_renderer(['session'])(self.result)]
        assert (line['ok'], line['attempts'], line['waited_ms']) == (False, 2, 500)
        assert [item['event'] for item in line['output']] == [
            'error.resource',
            'error.retry_attempt',
            'error.permanent',
        ]
        records: Any = msgspec.to_builtins(OUTPUTS['log'](self.result))
        assert [record['category'] for record in records] == ['resource', 'defect']
        assert 'FAKE-detail' not in json.dumps(line)


def test_retry_summary_omits_short_waits_and_single_attempts() -> None:
    assert retry_summary(None) is None
    assert retry_summary(CallStats(attempts=1, waited=0.009)) is None
    assert retry_summary(CallStats(attempts=0, waited=0.01)) == 'waited 0.01 s'
    assert retry_summary(CallStats(attempts=2, waited=0.001)) == 'tried 2 times'
    assert retry_summary(CallStats(attempts=2, waited=12.3456)) == 'tried 2 times, waited 12.346 s'


def test_interrupt_ends_a_wait(folder: Path) -> None:
    guards = write_guards(folder, '[default.rate_limit]\nlimit = 1\nperiod = 1000\nwait = 1000\n')
    with start_command(
        'run', '--workspace', folder, '--seam', 'model', '--guards', guards
    ) as process:
        stdin, stdout, stderr = streams(process)
        stdin.write((READ + call('read_file', id='waits', path='a.txt')).encode())
        stdin.flush()
        assert is_readable(stdout, WAIT)
        assert objects(stdout.readline())[0]['attempts'] == 1
        time.sleep(0.3)  # lets the wait begin; an earlier interrupt has the same effect
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT) == 130
        assert stderr.read() == b'seamwise: interrupted.\n'
        assert stdout.read() == b''


def test_a_repeatable_command_may_be_repeated_after_its_last_attempt(folder: Path) -> None:
    calls = call('execute_command', command='sleep 9', timeout=0.1)
    guards = f'[tools.execute_command]\nrepeatable = true\nretry = {{ attempts = 2, {QUICK} }}'
    [result] = lines(folder, guards, calls, 'planner')
    assert result['output']['details']['attempts'] == 2
    assert 'may_have_taken_effect' not in result['output']['details']
