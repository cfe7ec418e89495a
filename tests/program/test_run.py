"""`seamwise run`: options, output lines, exit codes, defects; tested in this process."""

import json
import logging
import sys
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from msgspec import Struct
from typing_extensions import override

from seamwise import Failure, Success
from seamwise.catalog.parsing import ParsingError, UnknownFormat
from seamwise.catalog.tools import FileNotFound, RegistrationRejected, ToolError
from seamwise.program.console import Exit
from seamwise.program.outputs import OUTPUTS, CallResult, Defect
from seamwise.program.rendering import json_renderer
from seamwise.program.run import command as run
from seamwise.seams.log import LogRecord
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.calls import InputLine
from tests.strategies import PLANTED, errors
from tests.toolhost.helpers import unprivileged

from .helpers import SEAMS, call, objects

READ = call('read_file', id='r', path='a.txt')
MISSING = call('read_file', id='g', path='b.txt')


def invoke(*arguments: str | Path, calls: str | bytes = '') -> Result:
    return CliRunner().invoke(run, [*map(str, arguments)], input=calls, prog_name='seamwise run')


def lines(
    workspace: Path, calls: str | bytes, seam: str = 'all', *more: str
) -> list[dict[str, Any]]:
    return objects(invoke('--workspace', workspace, '--seam', seam, *more, calls=calls).stdout)


# The output


def test_seam_all_shows_every_seam_in_order(workspace: Path) -> None:
    output_lines = lines(workspace, READ + MISSING)
    assert [item['seam'] for item in output_lines] == SEAMS * 2
    assert [(item['id'], item['line'], item['ok']) for item in output_lines] == [
        ('r', 1, True)
    ] * 7 + [('g', 2, False)] * 7
    assert all(list(item) == ['id', 'line', 'seam', 'ok', 'output'] for item in output_lines)


@pytest.mark.parametrize('seam', [seam for seam in SEAMS if seam != 'cli'])
def test_single_seam_writes_one_line_per_call(workspace: Path, seam: str) -> None:
    assert [line['seam'] for line in lines(workspace, READ + MISSING, seam)] == [seam, seam]


DATA = {
    'path': 'a.txt',
    'content': 'one\ntwo\n',
    'start_line': 1,
    'end_line': 2,
    'total_lines': 2,
    'truncated': False,
}


def test_success_is_shown_as_each_seam_writes_it(workspace: Path) -> None:
    output = {line['seam']: line['output'] for line in lines(workspace, READ)}
    text = (
        'path: a.txt\ncontent:\n  one\n  two\n'
        'start_line: 1\nend_line: 2\ntotal_lines: 2\ntruncated: false'
    )
    assert output['cli'] == {'text': text, 'exit_code': 0}
    assert list(output['http']) == ['status', 'headers', 'body']
    assert output['http']['status'] == 200
    assert output['http']['headers'] == {'content-type': 'application/json', 'x-request-id': 'r'}
    assert output['http']['body'] | {'timestamp': ''} == {
        'success': True,
        'data': DATA,
        'timestamp': '',
        'request_id': 'r',
    }
    assert output['session'] == []
    assert output['model'] == {'status': 'success', 'result': DATA}
    assert output['planner'] is None
    assert output['log'] is None
    response = output['jsonrpc']
    assert list(response) == ['jsonrpc', 'id', 'result']
    assert response['id'] == 'r'
    assert json.loads(response['result']['content'][0].pop('text')) == DATA
    assert response['result'] == {
        'content': [{'type': 'text'}],
        'structuredContent': DATA,
        'isError': False,
    }


def test_failure_is_shown_as_each_seam_writes_it(workspace: Path) -> None:
    output = {line['seam']: line['output'] for line in lines(workspace, MISSING)}
    assert output['cli'] == {
        'text': "'b.txt' does not exist.\ndid you mean 'a.txt'?",
        'exit_code': 66,
    }
    assert output['http']['status'] == 404
    assert output['http']['body']['error']['code'] == 'FILE_NOT_FOUND'
    assert [item['metadata']['error_type'] for item in output['session']] == ['FileNotFound']
    assert output['session'][0]['metadata']['operation'] == 'read_file'
    assert output['model']['error_class'] == 'FileNotFound'
    assert output['planner']['code'] == 'TOOL_EXECUTION_FAILED'
    assert output['log']['error_type'] == 'FileNotFound'
    assert output['log']['params'] == {'path': 'b.txt'}
    result = output['jsonrpc']['result']
    assert result['isError'] is True
    assert json.loads(result['content'][0]['text']) == output['model']


@pytest.mark.parametrize(
    ('line', 'kind', 'code', 'expected_id'),
    [
        ('{"id": "c1", "tool": ', 'UnreadableCall', -32700, None),
        ('{"id": "c1", "tool": 7}', 'SchemaViolations', -32600, 'c1'),
        ('[]', 'SchemaViolations', -32600, None),
        ('{"id": "c1", "tool": "raed_file"}', 'UnknownTool', -32602, 'c1'),
    ],
)
def test_invalid_line_is_a_failure_and_the_rest_runs(
    workspace: Path, line: str, kind: str, code: int, expected_id: str | None
) -> None:
    result = lines(workspace, f'{line}\n{READ}')
    first = {item['seam']: item for item in result[:7]}
    assert all(
        (item['id'], item['line'], item['ok']) == (expected_id, 1, False) for item in first.values()
    )
    assert first['jsonrpc']['output']['error']['code'] == code
    assert first['jsonrpc']['output']['id'] == expected_id
    assert first['http']['output']['body']['error']['type'] == kind
    assert first['log']['output'].get('params') == ({} if kind == 'UnknownTool' else None)
    assert all(item['ok'] for item in result[7:])


def test_request_id_is_that_of_the_call_if_valid(workspace: Path) -> None:
    valid, invalid = lines(
        workspace, call('list_files', id='a-b.C_1') + call('list_files', id='né'), 'http'
    )
    assert valid['output']['body']['request_id'] == 'a-b.C_1'
    assert (
        invalid['output']['body']['request_id']
        == invalid['output']['headers']['x-request-id']
        != 'né'
    )


def test_session_text_is_in_the_locale(workspace: Path) -> None:
    (event,) = lines(workspace, MISSING, 'session', '--locale', 'zh_CN')[0]['output']
    assert event['content'] == "'b.txt' does not exist."
    assert event['show_content'] == "'b.txt' 不存在。"


def test_params_in_the_log_are_redacted(workspace: Path) -> None:
    secret = call('write_file', path='/no', content='password=hunter2')
    assert 'hunter2' not in json.dumps(lines(workspace, secret, 'log'))


def test_value_is_shown_unredacted_and_is_not_logged(workspace: Path) -> None:
    (workspace / 'a.txt').write_text('password=hunter2\n')
    output = {line['seam']: json.dumps(line['output']) for line in lines(workspace, READ)}
    assert {seam for seam, text in output.items() if 'password=hunter2' in text} == {
        'cli',
        'http',
        'model',
        'jsonrpc',
    }
    assert output['log'] == 'null'


@given(error=errors(ToolError, ParsingError))
def test_every_error_has_output_without_secrets_at_every_seam(error: Any) -> None:
    for piece in json_renderer(SEAMS)(
        CallResult(InputLine(1, 'c', Failure(error)), Failure(error), 'zh_CN')
    ):
        (result,) = objects(piece.data)
        is_hidden = isinstance(error, RegistrationRejected) and result['seam'] in {
            'http',
            'model',
            'jsonrpc',
        }
        assert piece.code is (Exit.DEFECT if is_hidden else Exit.FAILED)
        assert result['output']
        assert PLANTED not in piece.data.decode()


# The lines


def test_byte_order_mark_and_blank_lines_are_skipped_but_counted(workspace: Path) -> None:
    result = lines(
        workspace, b'\xef\xbb\xbf\n  \r\n{"tool": "list_files"}\n\n' + READ.encode(), 'model'
    )
    assert [(item['id'], item['line'], item['ok']) for item in result] == [
        ('line-3', 3, True),
        ('r', 5, True),
    ]


def test_repeated_id_is_a_failure_and_does_not_run(workspace: Path) -> None:
    first, second = lines(
        workspace,
        call('write_file', id='w', path='n', content='1')
        + call('write_file', id='w', path='m', content='2'),
        'model',
    )
    assert (first['ok'], second['ok'], second['id'], second['output']['error_class']) == (
        True,
        False,
        'w',
        'SchemaViolations',
    )
    assert not (workspace / 'm').exists()


@pytest.mark.parametrize(
    ('line', 'kind'),
    [
        (b'{"tool": "list_files",}', 'UnreadableCall'),
        (b'{"tool": "read_file", "arguments": {"path": NaN}}', 'UnreadableCall'),
        (b'{"tool": "read_file", "arguments": {"path": -Infinity}}', 'UnreadableCall'),
        (b'{"id": "\xff", "tool": "list_files"}', 'UnreadableCall'),
        (b'\0', 'UnreadableCall'),
        (b'[' * 100_000 + b']' * 100_000, 'UnreadableCall'),
        (
            b'{"tool": "list_files", "arguments": ' + b'{"a":' * 100_000 + b'1' + b'}' * 100_001,
            'UnreadableCall',
        ),
        (
            b'{"tool": "write_file", "arguments": {"path": "n", "content": "'
            + b'x' * 50_000_000
            + b'"}}',
            'UnreadableCall',
        ),
        (b'null', 'SchemaViolations'),
        (b'{"arguments": {}}', 'SchemaViolations'),
        (b'{"tool": "list_files", "arguments": []}', 'SchemaViolations'),
        (b'{"tool": "list_files", "id": ""}', 'SchemaViolations'),
        (b'{"tool": "list_files", "id": "' + b'i' * 129 + b'"}', 'SchemaViolations'),
        (b'{"tool": "list_files", "surprise": 1}', 'SchemaViolations'),
        (b'{"tool": "read_file", "arguments": {"path": 7}}', 'InvalidParameter'),
        (b'{"tool": "read_file"}', 'MissingParameter'),
        (b'{"tool": "raed_file"}', 'UnknownTool'),
    ],
    ids=lambda line: line[:40] if isinstance(line, bytes) else None,
)
def test_any_invalid_line_is_one_failure_and_the_rest_runs(
    workspace: Path, line: bytes, kind: str
) -> None:
    invalid, valid = lines(workspace, line + b'\n' + READ.encode(), 'http')
    error = invalid['output']['body']['error']
    assert (invalid['line'], invalid['ok'], error['type']) == (1, False, kind)
    if kind == 'UnreadableCall':
        assert invalid['id'] is None
        assert error['details']['format'] == 'json'
        assert isinstance(error['details']['position'], int)
        assert len(error['details']['excerpt']) <= 200
    assert (valid['id'], valid['line'], valid['ok']) == ('r', 2, True)


def test_excerpt_contains_no_secret(workspace: Path) -> None:
    assert 'hunter2' not in json.dumps(lines(workspace, '{"id": "c", "password": "hunter2"'))


# For people


def test_cli_seam_writes_text_without_json(workspace: Path) -> None:
    done = invoke('--workspace', workspace, '--seam', 'cli', calls=READ + MISSING + '[]\n')
    assert done.exit_code == 1
    first, second, third, end = done.stdout.split('\n\n')
    assert first == (
        'r read_file: ok\npath: a.txt\ncontent:\n  one\n  two\n'
        'start_line: 1\nend_line: 2\ntotal_lines: 2\ntruncated: false'
    )
    assert second == "g read_file: exit code 66\n'b.txt' does not exist.\ndid you mean 'a.txt'?"
    assert third.startswith(
        'line 3: exit code 65\nThe call does not have the right shape.\n'
        'hint: the line: must be an object'
    )
    assert end == ''


def test_cli_seam_writes_lines_with_json(workspace: Path) -> None:
    (result,) = lines(workspace, READ, 'cli', '--json')
    assert result['output']['exit_code'] == 0


def test_control_characters_of_an_id_are_escaped(workspace: Path) -> None:
    done = invoke('--workspace', workspace, '--seam', 'cli', calls=call('list_files', id='\x1b[2J'))
    assert done.stdout.startswith('\\x1b[2J list_files: ok\n')


# Exit codes


@pytest.mark.parametrize(
    ('calls', 'code'),
    [('', 0), ('\n \n', 0), (READ, 0), (READ + MISSING, 1), (MISSING + READ, 1), ('nonsense', 1)],
)
def test_exit_code_is_1_if_a_call_failed(workspace: Path, calls: str, code: int) -> None:
    assert invoke('--workspace', workspace, '--seam', 'model', calls=calls).exit_code == code


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--seam', 'cli'], "Missing option '--workspace'"),
        (['--workspace', '.'], "Missing option '--seam'"),
        (['--workspace', '.', '--seam', 'htp'], "'jsonrpc', 'all'. Did you mean 'http'?"),
        (['--workspace', '.', '--seam', 'quux'], "'jsonrpc', 'all'.\n"),
        (['--workspace', '.', '--seam', 'cli', '--locale', 'zh-CN'], "Did you mean 'zh_CN'?"),
        (
            ['--workspace', '.', '--seam', 'cli', '--locale', 'klingon'],
            "is not one of 'en', 'zh_CN'.",
        ),
        (['--workspace', '.', '--seam', 'cli', '--jsonn'], "Did you mean '--json'?"),
        (
            ['--workspace', '.', '--seam', 'cli', '--repeat-limit', '-1'],
            '-1 is not in the range x>=0',
        ),
        (
            ['--workspace', '.', '--seam', 'cli', '--mistake-limit', 'x'],
            "'x' is not a valid integer",
        ),
        (['--workspace', '.', '--seam', 'cli', '--env', 'A=1'], "'A=1' is not the name of"),
        (['--workspace', '.', '--seam', 'cli', 'a', 'b'], 'unexpected extra argument'),
    ],
)
def test_incorrect_use_exits_with_2_and_a_suggestion(options: list[str], message: str) -> None:
    done = invoke(*options)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stdout == ''


@pytest.mark.parametrize(
    ('file', 'folder', 'message'),
    [
        ('nope.jsonl', 'ws', "seamwise: cannot read 'nope.jsonl': No such file or directory\n"),
        ('ws', 'ws', "seamwise: cannot read 'ws': Is a directory\n"),
        ('-', 'nope', "seamwise: cannot use 'nope' as the workspace: No such file or directory\n"),
        ('-', 'ws/a.txt', "seamwise: cannot use 'ws/a.txt' as the workspace: Not a directory\n"),
        ('a\x1b[2J', 'ws', "seamwise: cannot read 'a\\x1b[2J': No such file or directory\n"),
        ('', 'ws', "seamwise: cannot read '': No such file or directory\n"),
        ('-', '', "seamwise: cannot use '' as the workspace: No such file or directory\n"),
    ],
)
def test_missing_file_or_folder_exits_with_66(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, file: str, folder: str, message: str
) -> None:
    monkeypatch.chdir(workspace.parent)
    done = invoke(file, '--workspace', folder, '--seam', 'cli')
    assert (done.exit_code, done.stderr, done.stdout) == (66, message, '')


def test_file_without_read_permission_exits_with_66(workspace: Path) -> None:
    file = workspace.parent / 'calls.jsonl'
    file.write_text(READ)
    file.chmod(0)
    closed = workspace.parent / 'closed'
    closed.mkdir(0)
    with unprivileged():
        no_file = invoke(file, '--workspace', workspace, '--seam', 'cli')
        no_folder = invoke('--workspace', closed, '--seam', 'cli')
    assert (no_file.exit_code, no_file.stderr) == (
        66,
        f'seamwise: cannot read {str(file)!r}: Permission denied\n',
    )
    assert (no_folder.exit_code, no_folder.stderr) == (
        66,
        f'seamwise: cannot use {str(closed)!r} as the workspace: Permission denied\n',
    )


def test_read_error_exits_with_66(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(source: object) -> Any:
        yield InputLine(1, 'x', Failure(UnknownFormat('x')))
        raise OSError(5, 'Input/output error')

    monkeypatch.setattr('seamwise.program.run.read_calls', failing)
    monkeypatch.setattr('seamwise.program.run.Host', FakeHost(Success(None)))
    done = invoke('--workspace', workspace, '--seam', 'planner')
    assert done.exit_code == 66
    assert done.stderr == "seamwise: cannot read '-': Input/output error\n"
    assert len(objects(done.stdout)) == 1


def test_file_is_read_like_standard_input(workspace: Path) -> None:
    file = workspace.parent / 'calls.jsonl'
    file.write_bytes(b'\xef\xbb\xbf' + READ.encode())
    from_file, from_stdin = (
        invoke(*name, '--workspace', workspace, '--seam', 'model', calls=READ)
        for name in ([file], ['-'])
    )
    assert from_file.stdout == from_stdin.stdout
    assert from_file.exit_code == 0


def test_limits_are_passed_to_the_host(workspace: Path) -> None:
    repeated = [
        line['output'].get('error_class')
        for line in lines(workspace, repeated_calls(READ, 3), 'model', '--repeat-limit', '1')
    ]
    assert repeated == [None, 'ToolRepeated', 'ToolRepeated']
    without_limit = lines(workspace, repeated_calls(READ, 6), 'model', '--repeat-limit', '0')
    assert all(item['ok'] for item in without_limit)
    by_default = [
        line['output'].get('error_class')
        for line in lines(workspace, repeated_calls(READ, 4), 'model')
    ]
    assert by_default == [None, None, None, 'ToolRepeated']
    mistakes = [
        line['output'].get('error_class')
        for line in lines(workspace, MISSING + '[]\n' + READ, 'model', '--mistake-limit', '2')
    ]
    assert mistakes == ['FileNotFound', 'SchemaViolations', 'TooManyMistakes']
    records = lines(workspace, MISSING + '[]\n' + READ, 'log', '--mistake-limit', '2')
    assert [(item['output']['error_type'], item['output'].get('tool')) for item in records] == [
        ('FileNotFound', 'read_file'),
        ('SchemaViolations', None),
        ('TooManyMistakes', 'read_file'),
    ]


def repeated_calls(line: str, times: int) -> str:
    return ''.join(
        json.dumps({**json.loads(line), 'id': f'c{number}'}) + '\n' for number in range(times)
    )


# Defects


class FakeHost:
    """A host whose calls end with these outcomes, one after the other."""

    def __init__(self, *outcomes: object) -> None:
        self._outcomes = iter(outcomes * 2)

    def __call__(self, workspace: Workspace, **options: object) -> 'FakeHost':
        return self

    def run(self, line: InputLine, **options: object) -> object:
        outcome = next(self._outcomes)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def test_defect_of_a_tool_is_internal_at_every_seam_and_the_rest_runs(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        'seamwise.program.run.Host',
        FakeHost(ZeroDivisionError('FAKE-detail'), Failure(FileNotFound('t', 'p'))),
    )
    done = invoke('--workspace', workspace, '--seam', 'all', calls=READ + MISSING)
    assert done.exit_code == 70
    result = objects(done.stdout)
    assert len(result) == 14
    (record,) = caplog.records
    ref = record.__dict__['ref']
    assert record.levelno == logging.ERROR
    for item in result[:7]:
        text = json.dumps(item['output'])
        assert ref in text
        assert item['ok'] is False
        if item['seam'] != 'log':
            assert 'INTERNAL' in text
            assert 'FAKE' not in text
            assert 'ZeroDivision' not in text
    second_outputs = {item['seam']: item['output'] for item in result}
    assert result[0]['output']['exit_code'] == 70
    assert result[1]['output']['status'] == 500
    assert result[6]['output']['error']['data'] == {'ref': ref}
    assert second_outputs['cli']['exit_code'] == 66


def test_defect_of_a_seam_is_internal(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rejected = Failure(RegistrationRejected('t', 'declared never to reach a model'))
    monkeypatch.setattr('seamwise.program.run.Host', FakeHost(rejected))
    done = invoke('--workspace', workspace, '--seam', 'model', calls=READ)
    assert done.exit_code == 70
    (result,) = objects(done.stdout)
    assert result['output']['error_class'] == 'INTERNAL'
    assert result['ok'] is False


def test_value_that_cannot_be_encoded_is_a_defect(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd(Struct):
        thing: object

    monkeypatch.setattr('seamwise.program.run.Host', FakeHost(Success(Odd(object()))))
    for seam in ('model', 'cli'):
        done = invoke('--workspace', workspace, '--seam', seam, calls=READ)
        assert done.exit_code == 70
        assert 'INTERNAL' in done.stdout


def test_record_of_a_defect_contains_the_call() -> None:
    record = OUTPUTS['log'](
        CallResult(
            InputLine(1, None, Failure(FileNotFound('t', 'p'))),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            Defect(KeyError('k'), 'err_12345678'),
        )
    )
    assert isinstance(record, LogRecord)
    assert record.params is None


def test_interrupt_exits_with_130(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('seamwise.program.run.Host', FakeHost(Success(None), KeyboardInterrupt()))
    done = invoke('--workspace', workspace, '--seam', 'planner', calls=READ + MISSING)
    assert done.exit_code == 130
    assert done.stderr == 'seamwise: interrupted.\n'
    assert len(objects(done.stdout)) == 1


# Streams


class UnwritableBuffer(BytesIO):
    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    @override
    def write(self, data: object) -> int:
        raise self._error


@pytest.mark.parametrize(
    ('error', 'code', 'message'),
    [
        (
            OSError(28, 'No space left on device'),
            74,
            'seamwise: cannot write to standard output: No space left on device\n',
        ),
        (BrokenPipeError(32, 'Broken pipe'), 141, ''),
    ],
)
def test_unwritable_output_ends_the_run(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, code: int, message: str
) -> None:
    calls: list[InputLine] = []

    class Host(FakeHost):
        @override
        def run(self, line: InputLine, **options: object) -> object:
            calls.append(line)
            return Success(None)

    class Stdout:
        buffer = UnwritableBuffer(error)

        def isatty(self) -> bool:
            return False

        def fileno(self) -> int:
            raise OSError('no file descriptor')

    monkeypatch.setattr('seamwise.program.run.Host', Host())
    monkeypatch.setattr(
        'seamwise.program.console.std_stream',
        FakeStreams(stdin=FakeStdin((READ + MISSING).encode()), stdout=Stdout()),
    )
    done = invoke('--workspace', workspace, '--seam', 'planner')
    assert (done.exit_code, done.stderr) == (code, message)
    assert len(calls) == 1, 'no call runs after the output has failed'


class FakeStdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = BytesIO(data)

    def isatty(self) -> bool:
        return False


class FakeTerminal(FakeStdin):
    @override
    def isatty(self) -> bool:
        return True


class FakeStreams:
    """Replacement for `std_stream` that returns these streams, else those of the process."""

    def __init__(self, **streams: object) -> None:
        self._streams = streams

    def __call__(self, name: str) -> Any:
        return self._streams[name] if name in self._streams else getattr(sys, name)


@pytest.mark.parametrize(('name', 'code'), [('stdin', 66), ('stdout', 74)])
def test_closed_stream_is_reported(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, name: Literal['stdin', 'stdout'], code: int
) -> None:
    streams: dict[str, object] = {'stdin': FakeStdin(b''), 'stdout': FakeStdin(b'')}
    monkeypatch.setattr(
        'seamwise.program.console.std_stream', FakeStreams(**{**streams, name: None})
    )
    done = invoke('--workspace', workspace, '--seam', 'planner')
    assert (done.exit_code, done.stderr) == (code, f'seamwise: {name} is closed.\n')


def test_prompt_is_shown_if_calls_are_typed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        'seamwise.program.console.std_stream',
        FakeStreams(stdin=FakeTerminal(b''), stdout=FakeStdin(b'')),
    )
    done = invoke('--workspace', workspace, '--seam', 'planner')
    assert done.exit_code == 0
    assert done.stderr == 'seamwise: enter one call per line; end with Ctrl-D.\n'


def test_help_shows_an_example_and_every_exit_code() -> None:
    done = invoke('--help')
    assert done.exit_code == 0
    assert (
        'seamwise run examples/calls.jsonl --workspace examples/workspace --seam all' in done.stdout
    )
    for code in (0, 1, 2, 66, 70, 74, 78, 130, 141):
        assert f' {code}  ' in done.stdout
    assert max(map(len, done.stdout.split('\n'))) <= 80


def test_no_file_descriptor_is_left_open(workspace: Path) -> None:
    file = workspace.parent / 'calls.jsonl'
    file.write_text(READ)
    invoke(file, '--workspace', workspace, '--seam', 'model')
    descriptors = open_descriptors()
    invoke(file, '--workspace', workspace, '--seam', 'model')
    assert open_descriptors() <= descriptors


def open_descriptors() -> int:
    return sum(1 for _ in Path('/proc/self/fd').iterdir())


def test_commands_get_the_variables_that_are_named(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ('FIRST', 'SECOND', 'THIRD'):
        monkeypatch.setenv(name, name.lower())
    echo = call('execute_command', command='echo $FIRST,$SECOND,$THIRD')
    assert 'first,,third' in str(
        lines(workspace, echo, 'model', '--env', 'FIRST', '--env', 'THIRD')
    )


# Calls that may have taken effect


KILLED = call('execute_command', id='k', command='echo begun; sleep 12', timeout=0.2)


def test_no_seam_advises_to_repeat_a_command_that_was_killed(workspace: Path) -> None:
    output = {line['seam']: line['output'] for line in lines(workspace, KILLED)}
    advice = 'It may have taken effect'
    assert advice in output['model']['suggestion']
    assert output['model']['output'] == 'begun\n'
    [content] = output['jsonrpc']['result']['content']
    assert advice in content['text']
    assert output['planner']['details']['may_have_taken_effect'] is True
    assert output['planner']['details']['output'] == 'begun\n'
    [event] = output['session']
    assert event['metadata']['recovery_strategy'] == 'escalate_to_user'


@pytest.mark.parametrize('seam', ['model', 'jsonrpc', 'planner', 'session'])
def test_a_command_that_did_not_begin_or_was_refused_has_had_no_effect(
    workspace: Path, seam: str
) -> None:
    calls = call('execute_command', command='exit 3') + call('execute_command', comand='ls')
    for line in lines(workspace, calls, seam):
        assert 'taken effect' not in json.dumps(line)
        assert 'may_have_taken_effect' not in json.dumps(line)
