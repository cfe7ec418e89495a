"""`seamwise run --guards FILE`: a file that is wrong is shown where it is wrong; every line tells of attempts and waits."""

import json
import re
import signal
import subprocess
import time
from datetime import datetime, timedelta
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from click.testing import CliRunner, Result
from msgspec import Struct
from msgspec.structs import replace

from seamwise import Failure, Success
from seamwise import Result as Outcome
from seamwise.catalog.tools import ResourceExhausted, ToolError
from seamwise.defects import report_defect
from seamwise.policies.retry import retry
from seamwise.policies.testing import FakeWorld
from seamwise.program.outputs import OUTPUTS, CallResult, Defect
from seamwise.program.rendering import json_renderer, text_renderer
from seamwise.program.retry_summary import retry_summary
from seamwise.program.run import run
from seamwise.toolhost.calls import InputLine, ToolCall
from seamwise.toolhost.guards import settings as guard_settings
from seamwise.toolhost.guards.config import MAX_CONFIG_SIZE, parse_guards
from seamwise.toolhost.guards.guarded_call import CallStats, GuardedRunner, record_event

from .helpers import COMMAND, SEAMS, call, objects
from .helpers import run as run_process
from .test_process import WAIT, readable, started, streams

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


def written(folder: Path, text: str | bytes) -> Path:
    file = folder.parent / 'guards.toml'
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def invoke(folder: Path, guards: str | bytes | Path, calls: str, *more: str) -> Result:
    file = guards if isinstance(guards, Path) else written(folder, guards)
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


class TestAFileThatIsWrong:
    def wrong(self, folder: Path, guards: str | bytes) -> str:
        done = invoke(
            folder, guards, call('write_file', path='new.txt', content=''), '--seam', 'all'
        )
        assert (done.exit_code, done.stdout) == (78, '')
        assert not (folder / 'new.txt').exists(), 'no call runs'
        return done.stderr.replace(str(folder.parent), '')

    def test_is_shown_with_the_line_and_a_caret(self, folder: Path) -> None:
        assert self.wrong(folder, '# mine\n[default.retry]\n  atempts = 3 # three\n') == (
            "The configuration in '/guards.toml' is not valid.\n"
            'at /guards.toml:3:3\n'
            '    atempts = 3 # three\n'
            '    ^\n'
            "hint: /default/retry/atempts: is not a known key (did you mean 'attempts'?).\n"
        )

    def test_is_shown_with_all_that_is_wrong_in_its_order(self, folder: Path) -> None:
        told = self.wrong(
            folder,
            '[tools.raed_file]\n[default]\ndeadline = { secnds = 1 }\nretry.jitter = "ful"\n',
        )
        assert [one for one in told.splitlines() if one.startswith(('at ', 'hint: '))] == [
            'at /guards.toml:1:8',
            "hint: /tools/raed_file: is not a known tool (did you mean 'read_file', 'write_file' or 'replace_in_file'?).",
            'at /guards.toml:3:1',
            "hint: /default/deadline: needs the key 'seconds'.",
            'at /guards.toml:3:14',
            "hint: /default/deadline/secnds: is not a known key (did you mean 'seconds'?).",
            'at /guards.toml:4:7',
            "hint: /default/retry/jitter: must be 'full', 'equal', 'tenth', 'decorrelated' or 'none', not a string (did you mean 'full'?).",
        ]

    def test_is_shown_where_a_guard_cannot_take_a_number(self, folder: Path) -> None:
        told = self.wrong(
            folder, '[default]\n[tools."execute_command"]\n"retry" = { base = 0.5, attempts = -1 }'
        )
        assert 'at /guards.toml:3:25\n  "retry" = { base = 0.5, attempts = -1 }\n' in told
        assert 'attempts must be 1 or more, not -1.' in told

    def test_is_shown_where_it_is_no_toml(self, folder: Path) -> None:
        told = self.wrong(folder, '[default]\nretry = attempts\n')
        assert (
            told
            == "'/guards.toml' cannot be read: invalid value.\nat /guards.toml:2:9\n  retry = attempts\n          ^\n"
        )

    def test_is_shown_where_it_is_not_utf_8(self, folder: Path) -> None:
        assert self.wrong(folder, b'[default]\n# \xc3\xa9 \xff\n') == (
            "'/guards.toml' cannot be read: this is not UTF-8.\nat /guards.toml:2:5\n  # é \ufffd\n      ^\n"
        )

    def test_is_shown_where_it_is_not_utf_8_behind_a_byte_order_mark(self, folder: Path) -> None:
        assert 'at /guards.toml:2:5\n  # é \ufffd\n      ^\n' in self.wrong(
            folder, b'\xef\xbb\xbf[default]\n# \xc3\xa9 \xff\n'
        )

    @pytest.mark.parametrize(
        ('guards', 'said'),
        [
            (b'\0' * (MAX_CONFIG_SIZE + 1), 'has more than 262,144 bytes'),
            ('a = ' + '{a = ' * 2_000 + '1' + '}' * 2_000, 'is nested too deeply'),
        ],
    )
    def test_that_cannot_be_searched_for_keys_is_shown_from_its_beginning(
        self, folder: Path, guards: str | bytes, said: str
    ) -> None:
        told = self.wrong(folder, guards)
        assert told.splitlines()[1] == 'at /guards.toml:1:1'
        assert told.endswith(f'hint: the file: {said}.\n')

    def test_is_searched_once_however_much_is_wrong(self, folder: Path) -> None:
        guards = ''.join(f'k{number} = 1\n' for number in range(3_000))
        begun = time.monotonic()
        told = self.wrong(folder, guards)
        assert time.monotonic() - begun < 10.0
        assert told.endswith('\n\n… (2900 more)\n')

    def test_that_has_no_end_is_not_read_to_it(self, folder: Path) -> None:
        assert 'hint: the file: has more than 262,144 bytes.' in self.wrong(
            folder, b'#' * (MAX_CONFIG_SIZE + 1)
        )

    def test_shows_no_secret(self, folder: Path) -> None:
        assert 'hunter2' not in self.wrong(
            folder, '[default.retry]\npassword = "hunter2"\nname = 7 # password=hunter2\n'
        )


def test_a_file_without_a_name_is_not_the_current_folder(folder: Path) -> None:
    done = CliRunner().invoke(
        run, ['--workspace', str(folder), '--seam', 'model', '--guards', ''], input=READ
    )
    assert (done.exit_code, done.stderr) == (
        66,
        "seamwise: cannot read '': No such file or directory\n",
    )


@pytest.mark.parametrize(
    ('name', 'why'), [('gone.toml', 'No such file or directory'), ('ws', 'Is a directory')]
)
def test_a_file_that_cannot_be_read_is_missing_input(folder: Path, name: str, why: str) -> None:
    file = folder.parent / name
    done = invoke(folder, file, READ, '--seam', 'model')
    assert (done.exit_code, done.stdout) == (66, '')
    assert done.stderr == f'seamwise: cannot read {str(file)!r}: {why}\n'


def test_a_file_is_read_once_also_from_a_pipe(folder: Path) -> None:
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


def test_nobody_need_be_there_to_be_told(folder: Path) -> None:
    file = written(folder, 'x = 1')
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
def test_an_example_is_right(text: str) -> None:
    assert type(parse_guards(text.encode(), 'guards.toml')) is Success


def test_every_key_is_documented() -> None:
    page = (ROOT / 'docs' / 'run.md').read_text(encoding='utf-8')
    for kind in get_args(guard_settings.GuardConfig) + get_args(guard_settings.NestedConfig):
        assert all(f'`{name}' in page or f'{name} =' in page for name in kind.__struct_fields__), (
            kind
        )


# The output


def test_every_line_tells_of_attempts_and_waits(folder: Path) -> None:
    found = lines(
        folder,
        f'[default]\nretry = {{ attempts = 3, {QUICK} }}',
        READ + SEARCH + '{\n' + call('reed', id='x'),
    )
    assert all(
        list(one) == ['id', 'line', 'seam', 'ok', 'attempts', 'waited_ms', 'output']
        for one in found
    )
    assert [one['attempts'] for one in found] == [1] * 7 + [3] * 7 + [0] * 14
    assert all(60 <= one['waited_ms'] < 2_000 for one in found[7:14])
    assert all(one['waited_ms'] == 0 for one in found[14:])


def test_without_guards_the_lines_are_as_ever(folder: Path) -> None:
    done = CliRunner().invoke(
        run, ['--workspace', str(folder), '--seam', 'all'], input=READ + SEARCH
    )
    assert [list(one) for one in objects(done.stdout)] == [
        ['id', 'line', 'seam', 'ok', 'output']
    ] * 14


def test_a_call_that_just_runs_is_shown_as_without_guards_but_for_the_log(folder: Path) -> None:
    plain = CliRunner().invoke(
        run,
        ['--workspace', str(folder), '--seam', 'all'],
        input=READ + call('read_file', id='g', path='gone'),
    )
    guarded = lines(
        folder, '[default]\nretry = {}\ncircuit = {}', READ + call('read_file', id='g', path='gone')
    )
    for before, after in zip(objects(plain.stdout), guarded, strict=True):
        expected = before['output']
        if after['seam'] == 'log':
            expected = [expected] if expected else []
        assert unstamped(after['output']) == unstamped(expected)


def unstamped(value: object) -> str:
    """Give JSON without what differs from run to run, and without the attempt, of which there might have been more with guards."""
    return re.sub(r'"timestamp":"[^"]*",?|,"attempt":1', '', msgspec.json.encode(value).decode())


@pytest.fixture(scope='module')
def failed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Give what each seam shows of a search that was tried three times."""
    folder = tmp_path_factory.mktemp('failed') / 'ws'
    folder.mkdir()
    (folder / 'endless.txt').write_text('a' * 40 + 'b')
    return {
        one['seam']: one
        for one in lines(
            folder,
            f'[default]\nretry = {{ attempts = 3, {QUICK} }}',
            SEARCH,
            'all',
            '--locale',
            'zh_CN',
        )
    }


def apart(moments: list[str]) -> list[bool]:
    """Say of each moment but the first whether an attempt lies between it and the one before."""
    return [
        later - before >= timedelta(seconds=TIMEOUT)
        for before, later in pairwise(map(datetime.fromisoformat, moments))
    ]


class TestAFailureAfterAttempts:
    def test_is_a_hint_at_a_terminal(self, failed: dict[str, Any]) -> None:
        *_, last = failed['cli']['output']['text'].splitlines()
        assert last == f'hint: tried 3 times, waited {failed["cli"]["waited_ms"] / 1000:g} s.'

    def test_is_each_attempt_and_the_end_to_a_session(self, failed: dict[str, Any]) -> None:
        told = failed['session']['output']
        assert [one['event'] for one in told] == [
            'error.timeout',
            'error.retry_attempt',
            'error.timeout',
            'error.retry_attempt',
            'error.recovery_failed',
            'agent.error',
        ]
        attempts = [
            (one['metadata'].get('attempt'), one['metadata'].get('retry_after_ms')) for one in told
        ]
        assert attempts == [(1, 20), (1, 20), (2, 40), (2, 40), (3, None), (3, None)]
        assert {one['metadata']['operation'] for one in told} == {'search_files'}
        assert told[1]['show_content'].startswith('第 1 次')
        assert apart([one['metadata']['timestamp'] for one in told]) == [
            False,
            True,
            False,
            True,
            False,
        ]

    def test_is_a_record_an_attempt_in_the_log(self, failed: dict[str, Any]) -> None:
        told = failed['log']['output']
        assert [one['level'] for one in told] == ['info', 'info', 'error']
        assert all(one['error_type'] == 'ToolTimedOut' and one['params'] == ENDLESS for one in told)
        assert apart([one['timestamp'] for one in told]) == [True, True]

    def test_is_its_number_of_attempts_to_a_planner_and_over_http(
        self, failed: dict[str, Any]
    ) -> None:
        assert failed['planner']['output']['details']['attempts'] == 3
        assert failed['http']['output']['body']['error']['details']['attempts'] == 3

    def test_is_told_a_model_after_what_it_can_do(self, failed: dict[str, Any]) -> None:
        waited = failed['model']['waited_ms'] / 1000
        suggestion = f'Request less at a time, or allow more than 0.1 s. So far: tried 3 times, waited {waited:g} s.'
        assert failed['model']['output']['suggestion'] == suggestion
        [content] = failed['jsonrpc']['output']['result']['content']
        assert json.loads(content['text']) == failed['model']['output']


def test_the_refusal_of_a_guard_is_shown_at_every_seam(folder: Path) -> None:
    guards = '[default.rate_limit]\nlimit = 1\nperiod = 1000\n'
    shown = {
        one['seam']: one
        for one in lines(folder, guards, READ + call('read_file', id='again', path='a.txt'))[7:]
    }
    assert list(shown) == SEAMS
    assert all(
        (one['ok'], one['attempts']) == (False, 0) and one['waited_ms'] < 500
        for one in shown.values()
    )
    output = {seam: one['output'] for seam, one in shown.items()}
    assert output['cli']['exit_code'] == 75
    assert 'tried' not in output['cli']['text']
    assert output['http']['status'] == 429
    assert [one['event'] for one in output['session']] == ['error.rate_limited']
    assert output['session'][0]['metadata']['operation'] == 'read_file'
    assert output['model']['error_class'] == 'RateLimited'
    assert output['planner']['code'] == 'TOOL_RATE_LIMITED'
    assert [one['error_type'] for one in output['log']] == ['RateLimited']
    assert output['jsonrpc']['result']['isError'] is True


def test_a_circuit_keeps_a_broken_tool_alone(folder: Path) -> None:
    guards = '[default.circuit]\ntrip = { consecutive = 1 }\n'
    found = lines(
        folder, guards, SEARCH + call('search_files', id='s2', limit=1, **ENDLESS) + READ, 'session'
    )
    assert [one['attempts'] for one in found] == [1, 0, 1]
    kinds = [[event['metadata']['error_type'] for event in one['output']] for one in found]
    assert kinds == [['ToolTimedOut'], ['CircuitOpen'], []], 'and no failure is told twice'


def test_a_deadline_is_told_once_an_attempt(folder: Path) -> None:
    guards = f'[default]\nretry = {{ attempts = 2, {QUICK} }}\ndeadline.seconds = 0.1\n'
    [found] = lines(folder, guards, call('search_files', pattern='(a+)+$'), 'session')
    assert [one['event'] for one in found['output']] == [
        'error.timeout',
        'error.retry_attempt',
        'error.recovery_failed',
        'agent.error',
    ]
    assert {one['metadata']['error_code'] for one in found['output']} == {
        'ERR_TIMEOUT_006',
        'ERR_RECOVERY_001',
    }


def test_a_deadline_without_retry_is_one_event(folder: Path) -> None:
    [found] = lines(
        folder,
        '[default]\ndeadline.seconds = 0.1\n',
        call('search_files', pattern='(a+)+$'),
        'session',
    )
    assert [one['metadata']['error_type'] for one in found['output']] == ['DeadlineExceeded']


def test_a_command_that_may_have_done_its_work_is_not_run_again(folder: Path) -> None:
    calls = call('execute_command', command='echo x >> count; sleep 9', timeout=0.3)
    [found] = lines(folder, f'[default]\nretry = {{ {QUICK} }}', calls, 'session')
    assert (found['attempts'], (folder / 'count').read_text()) == (1, 'x\n')
    assert [one['event'] for one in found['output']] == ['error.timeout']
    guards = f'[default]\nretry = {{ attempts = 2, {QUICK} }}\n[tools.execute_command]\nrepeatable = true\n'
    [found] = lines(folder, guards, calls, 'session')
    assert (found['attempts'], (folder / 'count').read_text()) == (2, 'x\n' * 3)


def asked(*outcomes: Outcome[Struct, ToolError] | Exception) -> CallResult:
    """Run a call whose tool gives, or raises, one of these an attempt."""
    world, tries, left = FakeWorld(), CallStats(), iter(outcomes)
    guard = retry(
        attempts=3, base=0.5, jitter='none', name='play', observer=record_event, world=world
    )

    def operation() -> Outcome[Struct, ToolError]:
        following = next(left)
        if isinstance(following, Exception):
            raise following
        return following

    line = InputLine(1, 'p', Success(ToolCall('p', 'play', {}, 1)))
    try:
        return CallResult(
            line,
            GuardedRunner({'play': guard}, clock=world.clock).run('play', operation, stats=tries),
            'en',
            tries,
        )
    except ZeroDivisionError as raised:
        return CallResult(line, Defect(raised, report_defect(raised).ref), 'en', tries)


class Played(Struct, frozen=True):
    score: int


FULL: Outcome[Struct, ToolError] = Failure(ResourceExhausted('memory'))


class TestASuccessAfterAttempts:
    made = asked(FULL, FULL, Success(Played(7)))

    def test_is_the_value_for_all_who_take_values(self) -> None:
        plain = replace(self.made, stats=None)
        for seam in ('cli', 'model', 'planner', 'jsonrpc'):
            assert OUTPUTS[seam](self.made) == OUTPUTS[seam](plain)

    def test_is_told_beside_the_name_at_a_terminal(self) -> None:
        [shown] = text_renderer(StringIO())(self.made)
        assert shown.data == b'p play: ok (tried 3 times, waited 1.5 s)\nscore: 7\n\n'
        [shown] = text_renderer(StringIO())(asked(Success(Played(7))))
        assert shown.data == b'p play: ok\nscore: 7\n\n'

    def test_is_each_failed_attempt_to_a_session_and_in_the_log(self) -> None:
        told: Any = msgspec.to_builtins(OUTPUTS['session'](self.made))
        assert [one['event'] for one in told] == ['error.resource', 'error.retry_attempt'] * 2
        records: Any = msgspec.to_builtins(OUTPUTS['log'](self.made))
        assert [(one['level'], one['error_type']) for one in records] == [
            ('info', 'ResourceExhausted')
        ] * 2


class TestADefectAfterAttempts:
    made = asked(FULL, ZeroDivisionError('FAKE-detail'))

    def test_is_told_as_a_defect_after_what_came_before(self) -> None:
        [line] = [json.loads(one.data) for one in json_renderer(['session'])(self.made)]
        assert (line['ok'], line['attempts'], line['waited_ms']) == (False, 2, 500)
        assert [one['event'] for one in line['output']] == [
            'error.resource',
            'error.retry_attempt',
            'error.permanent',
        ]
        records: Any = msgspec.to_builtins(OUTPUTS['log'](self.made))
        assert [one['category'] for one in records] == ['resource', 'defect']
        assert 'FAKE-detail' not in json.dumps(line)


def test_what_is_worth_telling_is_told_in_words() -> None:
    assert retry_summary(None) is None
    assert retry_summary(CallStats(attempts=1, waited=0.009)) is None
    assert retry_summary(CallStats(attempts=0, waited=0.01)) == 'waited 0.01 s'
    assert retry_summary(CallStats(attempts=2, waited=0.001)) == 'tried 2 times'
    assert retry_summary(CallStats(attempts=2, waited=12.3456)) == 'tried 2 times, waited 12.346 s'


def test_an_interrupt_ends_a_wait(folder: Path) -> None:
    guards = written(folder, '[default.rate_limit]\nlimit = 1\nperiod = 1000\nwait = 1000\n')
    with started('run', '--workspace', folder, '--seam', 'model', '--guards', guards) as process:
        stdin, stdout, stderr = streams(process)
        stdin.write((READ + call('read_file', id='waits', path='a.txt')).encode())
        stdin.flush()
        assert readable(stdout, WAIT)
        assert objects(stdout.readline())[0]['attempts'] == 1
        time.sleep(0.3)  # until it waits; an interrupt before that ends it alike
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT) == 130
        assert stderr.read() == b'seamwise: interrupted.\n'
        assert stdout.read() == b''
