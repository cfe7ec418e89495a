"""`seamwise run`: options, output lines, exit codes, defects; in this process."""

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
from seamwise.program.run import run
from seamwise.seams.log import LogRecord
from seamwise.toolhost.calls import InputLine
from seamwise.toolhost.workspace.workspace import Workspace
from tests.strategies import PLANTED, errors
from tests.toolhost.helpers import unprivileged

from .helpers import SEAMS, call, objects

READ = call('read_file', id='r', path='a.txt')
GONE = call('read_file', id='g', path='b.txt')


def invoke(*arguments: str | Path, calls: str | bytes = '') -> Result:
    return CliRunner().invoke(run, [*map(str, arguments)], input=calls, prog_name='seamwise run')


def lines(
    workspace: Path, calls: str | bytes, seam: str = 'all', *more: str
) -> list[dict[str, Any]]:
    return objects(invoke('--workspace', workspace, '--seam', seam, *more, calls=calls).stdout)


# The output


def test_all_shows_every_seam_in_its_order(workspace: Path) -> None:
    found = lines(workspace, READ + GONE)
    assert [one['seam'] for one in found] == SEAMS * 2
    assert [(one['id'], one['line'], one['ok']) for one in found] == [('r', 1, True)] * 7 + [
        ('g', 2, False)
    ] * 7
    assert all(list(one) == ['id', 'line', 'seam', 'ok', 'output'] for one in found)


@pytest.mark.parametrize('seam', [seam for seam in SEAMS if seam != 'cli'])
def test_a_seam_alone_gives_one_line_a_call(workspace: Path, seam: str) -> None:
    assert [one['seam'] for one in lines(workspace, READ + GONE, seam)] == [seam, seam]


DATA = {
    'path': 'a.txt',
    'content': 'one\ntwo\n',
    'start_line': 1,
    'end_line': 2,
    'total_lines': 2,
    'truncated': False,
}


def test_a_success_is_what_each_seam_would_write(workspace: Path) -> None:
    shown = {one['seam']: one['output'] for one in lines(workspace, READ)}
    text = 'path: a.txt\ncontent:\n  one\n  two\nstart_line: 1\nend_line: 2\ntotal_lines: 2\ntruncated: false'
    assert shown['cli'] == {'text': text, 'exit_code': 0}
    assert list(shown['http']) == ['status', 'headers', 'body']
    assert shown['http']['status'] == 200
    assert shown['http']['headers'] == {'content-type': 'application/json', 'x-request-id': 'r'}
    assert shown['http']['body'] | {'timestamp': ''} == {
        'success': True,
        'data': DATA,
        'timestamp': '',
        'request_id': 'r',
    }
    assert shown['session'] == []
    assert shown['model'] == {'status': 'success', 'result': DATA}
    assert shown['planner'] is None
    assert shown['log'] is None
    answer = shown['jsonrpc']
    assert list(answer) == ['jsonrpc', 'id', 'result']
    assert answer['id'] == 'r'
    assert json.loads(answer['result']['content'][0].pop('text')) == DATA
    assert answer['result'] == {
        'content': [{'type': 'text'}],
        'structuredContent': DATA,
        'isError': False,
    }


def test_a_failure_is_what_each_seam_would_write(workspace: Path) -> None:
    shown = {one['seam']: one['output'] for one in lines(workspace, GONE)}
    assert shown['cli'] == {
        'text': "'b.txt' does not exist.\ndid you mean 'a.txt'?",
        'exit_code': 66,
    }
    assert shown['http']['status'] == 404
    assert shown['http']['body']['error']['code'] == 'FILE_NOT_FOUND'
    assert [one['metadata']['error_type'] for one in shown['session']] == ['FileNotFound']
    assert shown['session'][0]['metadata']['operation'] == 'read_file'
    assert shown['model']['error_class'] == 'FileNotFound'
    assert shown['planner']['code'] == 'TOOL_EXECUTION_FAILED'
    assert shown['log']['error_type'] == 'FileNotFound'
    assert shown['log']['params'] == {'path': 'b.txt'}
    result = shown['jsonrpc']['result']
    assert result['isError'] is True
    assert json.loads(result['content'][0]['text']) == shown['model']


@pytest.mark.parametrize(
    ('line', 'kind', 'code', 'shown_id'),
    [
        ('{"id": "c1", "tool": ', 'UnreadableCall', -32700, None),
        ('{"id": "c1", "tool": 7}', 'SchemaViolations', -32600, 'c1'),
        ('[]', 'SchemaViolations', -32600, None),
        ('{"id": "c1", "tool": "raed_file"}', 'UnknownTool', -32602, 'c1'),
    ],
)
def test_a_line_that_is_no_call_gives_an_error_and_the_rest_runs(
    workspace: Path, line: str, kind: str, code: int, shown_id: str | None
) -> None:
    found = lines(workspace, f'{line}\n{READ}')
    first = {one['seam']: one for one in found[:7]}
    assert all(
        (one['id'], one['line'], one['ok']) == (shown_id, 1, False) for one in first.values()
    )
    assert first['jsonrpc']['output']['error']['code'] == code
    assert first['jsonrpc']['output']['id'] == shown_id
    assert first['http']['output']['body']['error']['type'] == kind
    assert first['log']['output'].get('params') == ({} if kind == 'UnknownTool' else None)
    assert all(one['ok'] for one in found[7:])


def test_a_request_id_is_the_calls_where_it_fits(workspace: Path) -> None:
    fitting, other = lines(
        workspace, call('list_files', id='a-b.C_1') + call('list_files', id='né'), 'http'
    )
    assert fitting['output']['body']['request_id'] == 'a-b.C_1'
    assert (
        other['output']['body']['request_id'] == other['output']['headers']['x-request-id'] != 'né'
    )


def test_what_a_user_sees_is_in_their_language(workspace: Path) -> None:
    (event,) = lines(workspace, GONE, 'session', '--locale', 'zh_CN')[0]['output']
    assert event['content'] == "'b.txt' does not exist."
    assert event['show_content'] == "'b.txt' 不存在。"


def test_params_in_the_log_are_redacted(workspace: Path) -> None:
    secret = call('write_file', path='/no', content='password=hunter2')
    assert 'hunter2' not in json.dumps(lines(workspace, secret, 'log'))


def test_a_result_is_shown_as_it_is_and_the_log_holds_none_of_it(workspace: Path) -> None:
    (workspace / 'a.txt').write_text('password=hunter2\n')
    shown = {one['seam']: json.dumps(one['output']) for one in lines(workspace, READ)}
    assert {seam for seam, output in shown.items() if 'password=hunter2' in output} == {
        'cli',
        'http',
        'model',
        'jsonrpc',
    }
    assert shown['log'] == 'null'


@given(error=errors(ToolError, ParsingError))
def test_every_error_has_an_output_at_every_seam_and_none_tells_a_secret(error: Any) -> None:
    for piece in json_renderer(SEAMS)(
        CallResult(InputLine(1, 'c', Failure(error)), Failure(error), 'zh_CN')
    ):
        (found,) = objects(piece.data)
        is_hidden = isinstance(error, RegistrationRejected) and found['seam'] in {
            'http',
            'model',
            'jsonrpc',
        }
        assert piece.code is (Exit.DEFECT if is_hidden else Exit.FAILED)
        assert found['output']
        assert PLANTED not in piece.data.decode()


# The lines


def test_a_mark_and_blank_lines_are_skipped_and_counted(workspace: Path) -> None:
    found = lines(
        workspace, b'\xef\xbb\xbf\n  \r\n{"tool": "list_files"}\n\n' + READ.encode(), 'model'
    )
    assert [(one['id'], one['line'], one['ok']) for one in found] == [
        ('line-3', 3, True),
        ('r', 5, True),
    ]


def test_a_repeated_id_writes_nothing(workspace: Path) -> None:
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
    ids=lambda given: given[:40] if isinstance(given, bytes) else None,
)
def test_whatever_stands_on_a_line_it_gives_one_failure_and_the_rest_runs(
    workspace: Path, line: bytes, kind: str
) -> None:
    bad, good = lines(workspace, line + b'\n' + READ.encode(), 'http')
    error = bad['output']['body']['error']
    assert (bad['line'], bad['ok'], error['type']) == (1, False, kind)
    if kind == 'UnreadableCall':
        assert bad['id'] is None
        assert error['details']['format'] == 'json'
        assert isinstance(error['details']['position'], int)
        assert len(error['details']['excerpt']) <= 200
    assert (good['id'], good['line'], good['ok']) == ('r', 2, True)


def test_an_excerpt_tells_no_secret(workspace: Path) -> None:
    assert 'hunter2' not in json.dumps(lines(workspace, '{"id": "c", "password": "hunter2"'))


# For people


def test_without_json_the_cli_seam_writes_texts(workspace: Path) -> None:
    done = invoke('--workspace', workspace, '--seam', 'cli', calls=READ + GONE + '[]\n')
    assert done.exit_code == 1
    first, second, third, end = done.stdout.split('\n\n')
    assert first == (
        'r read_file: ok\npath: a.txt\ncontent:\n  one\n  two\nstart_line: 1\nend_line: 2\ntotal_lines: 2\ntruncated: false'
    )
    assert second == "g read_file: exit code 66\n'b.txt' does not exist.\ndid you mean 'a.txt'?"
    assert third.startswith(
        'line 3: exit code 65\nThe call does not have the right shape.\nhint: the line: must be an object'
    )
    assert end == ''


def test_with_json_the_cli_seam_writes_lines(workspace: Path) -> None:
    (found,) = lines(workspace, READ, 'cli', '--json')
    assert found['output']['exit_code'] == 0


def test_an_id_cannot_move_the_cursor(workspace: Path) -> None:
    done = invoke('--workspace', workspace, '--seam', 'cli', calls=call('list_files', id='\x1b[2J'))
    assert done.stdout.startswith('\\x1b[2J list_files: ok\n')


# Exit codes


@pytest.mark.parametrize(
    ('calls', 'code'),
    [('', 0), ('\n \n', 0), (READ, 0), (READ + GONE, 1), (GONE + READ, 1), ('nonsense', 1)],
)
def test_the_exit_code_tells_whether_all_calls_succeeded(
    workspace: Path, calls: str, code: int
) -> None:
    assert invoke('--workspace', workspace, '--seam', 'model', calls=calls).exit_code == code


@pytest.mark.parametrize(
    ('options', 'said'),
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
        (['--workspace', '.', '--seam', 'cli', '--jsn'], "Did you mean '--json'?"),
        (
            ['--workspace', '.', '--seam', 'cli', '--repeat-limit', '-1'],
            '-1 is not in the range x>=0',
        ),
        (
            ['--workspace', '.', '--seam', 'cli', '--mistake-limit', 'x'],
            "'x' is not a valid integer",
        ),
        (['--workspace', '.', '--seam', 'cli', 'a', 'b'], 'unexpected extra argument'),
    ],
)
def test_a_wrong_use_is_two_and_says_how_it_would_be_right(options: list[str], said: str) -> None:
    done = invoke(*options)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ''


@pytest.mark.parametrize(
    ('file', 'folder', 'said'),
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
def test_what_cannot_be_opened_is_sixty_six(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, file: str, folder: str, said: str
) -> None:
    monkeypatch.chdir(workspace.parent)
    done = invoke(file, '--workspace', folder, '--seam', 'cli')
    assert (done.exit_code, done.stderr, done.stdout) == (66, said, '')


def test_what_nobody_may_read_is_sixty_six(workspace: Path) -> None:
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


def test_a_file_that_fails_while_it_is_read_is_sixty_six(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(source: object) -> Any:
        yield InputLine(1, 'x', Failure(UnknownFormat('x')))
        raise OSError(5, 'Input/output error')

    monkeypatch.setattr('seamwise.program.run.read_calls', failing)
    monkeypatch.setattr('seamwise.program.run.Host', _Fixed(Success(None)))
    done = invoke('--workspace', workspace, '--seam', 'planner')
    assert done.exit_code == 66
    assert done.stderr == "seamwise: cannot read '-': Input/output error\n"
    assert len(objects(done.stdout)) == 1


def test_a_file_is_read_as_standard_input_is(workspace: Path) -> None:
    file = workspace.parent / 'calls.jsonl'
    file.write_bytes(b'\xef\xbb\xbf' + READ.encode())
    from_file, from_stdin = (
        invoke(*name, '--workspace', workspace, '--seam', 'model', calls=READ)
        for name in ([file], ['-'])
    )
    assert from_file.stdout == from_stdin.stdout
    assert from_file.exit_code == 0


def test_the_limits_are_the_hosts(workspace: Path) -> None:
    repeated = [
        one['output'].get('error_class')
        for one in lines(workspace, _several(READ, 3), 'model', '--repeat-limit', '1')
    ]
    assert repeated == [None, 'ToolRepeated', 'ToolRepeated']
    never = lines(workspace, _several(READ, 6), 'model', '--repeat-limit', '0')
    assert all(one['ok'] for one in never)
    usual = [
        one['output'].get('error_class') for one in lines(workspace, _several(READ, 4), 'model')
    ]
    assert usual == [None, None, None, 'ToolRepeated']
    mistaken = [
        one['output'].get('error_class')
        for one in lines(workspace, GONE + '[]\n' + READ, 'model', '--mistake-limit', '2')
    ]
    assert mistaken == ['FileNotFound', 'SchemaViolations', 'TooManyMistakes']


def _several(line: str, times: int) -> str:
    return ''.join(
        json.dumps({**json.loads(line), 'id': f'c{number}'}) + '\n' for number in range(times)
    )


# Defects


class _Fixed:
    """A host whose calls all end alike."""

    def __init__(self, *ends: object) -> None:
        self._ends = iter(ends * 2)

    def __call__(self, workspace: Workspace, **options: object) -> '_Fixed':
        return self

    def run(self, line: InputLine, **options: object) -> object:
        end = next(self._ends)
        if isinstance(end, BaseException):
            raise end
        return end


def test_a_tools_bug_is_internal_at_every_seam_and_the_rest_runs(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        'seamwise.program.run.Host',
        _Fixed(ZeroDivisionError('FAKE-detail'), Failure(FileNotFound('t', 'p'))),
    )
    done = invoke('--workspace', workspace, '--seam', 'all', calls=READ + GONE)
    assert done.exit_code == 70
    found = objects(done.stdout)
    assert len(found) == 14
    (record,) = caplog.records
    ref = record.__dict__['ref']
    assert record.levelno == logging.ERROR
    for one in found[:7]:
        written = json.dumps(one['output'])
        assert ref in written
        assert one['ok'] is False
        if one['seam'] != 'log':
            assert 'INTERNAL' in written
            assert 'FAKE' not in written
            assert 'ZeroDivision' not in written
    shown = {one['seam']: one['output'] for one in found}
    assert found[0]['output']['exit_code'] == 70
    assert found[1]['output']['status'] == 500
    assert found[6]['output']['error']['data'] == {'ref': ref}
    assert shown['cli']['exit_code'] == 66


def test_a_seams_bug_is_internal_too(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rejected = Failure(RegistrationRejected('t', 'declared never to reach a model'))
    monkeypatch.setattr('seamwise.program.run.Host', _Fixed(rejected))
    done = invoke('--workspace', workspace, '--seam', 'model', calls=READ)
    assert done.exit_code == 70
    (found,) = objects(done.stdout)
    assert found['output']['error_class'] == 'INTERNAL'
    assert found['ok'] is False


def test_a_value_that_cannot_be_encoded_is_a_defect(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd(Struct):
        thing: object

    monkeypatch.setattr('seamwise.program.run.Host', _Fixed(Success(Odd(object()))))
    for seam in ('model', 'cli'):
        done = invoke('--workspace', workspace, '--seam', seam, calls=READ)
        assert done.exit_code == 70
        assert 'INTERNAL' in done.stdout


def test_the_record_of_a_defect_knows_what_was_called() -> None:
    record = OUTPUTS['log'](
        CallResult(
            InputLine(1, None, Failure(FileNotFound('t', 'p'))),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            Defect(KeyError('k'), 'err_12345678'),
        )
    )
    assert isinstance(record, LogRecord)
    assert record.params is None


def test_interrupting_is_a_hundred_and_thirty(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('seamwise.program.run.Host', _Fixed(Success(None), KeyboardInterrupt()))
    done = invoke('--workspace', workspace, '--seam', 'planner', calls=READ + GONE)
    assert done.exit_code == 130
    assert done.stderr == 'seamwise: interrupted.\n'
    assert len(objects(done.stdout)) == 1


# Streams


class _Full(BytesIO):
    def __init__(self, raised: OSError) -> None:
        super().__init__()
        self._raised = raised

    @override
    def write(self, data: object) -> int:
        raise self._raised


@pytest.mark.parametrize(
    ('raised', 'code', 'said'),
    [
        (
            OSError(28, 'No space left on device'),
            74,
            'seamwise: cannot write to standard output: No space left on device\n',
        ),
        (BrokenPipeError(32, 'Broken pipe'), 141, ''),
    ],
)
def test_output_that_cannot_be_written_ends_the_run(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, raised: OSError, code: int, said: str
) -> None:
    asked: list[InputLine] = []

    class Host(_Fixed):
        @override
        def run(self, line: InputLine, **options: object) -> object:
            asked.append(line)
            return Success(None)

    class Stdout:
        buffer = _Full(raised)

        def isatty(self) -> bool:
            return False

        def fileno(self) -> int:
            raise OSError('no file descriptor')

    monkeypatch.setattr('seamwise.program.run.Host', Host())
    monkeypatch.setattr(
        'seamwise.program.console.std_stream',
        _Standard(stdin=_Text((READ + GONE).encode()), stdout=Stdout()),
    )
    done = invoke('--workspace', workspace, '--seam', 'planner')
    assert (done.exit_code, done.stderr) == (code, said)
    assert len(asked) == 1, 'what nobody can see is not done'


class _Text:
    def __init__(self, data: bytes) -> None:
        self.buffer = BytesIO(data)

    def isatty(self) -> bool:
        return False


class _Keyboard(_Text):
    @override
    def isatty(self) -> bool:
        return True


class _Standard:
    """Replacement for `std_stream` that returns these streams, else those of the process."""

    def __init__(self, **streams: object) -> None:
        self._streams = streams

    def __call__(self, name: str) -> Any:
        return self._streams[name] if name in self._streams else getattr(sys, name)


@pytest.mark.parametrize(('name', 'code'), [('stdin', 66), ('stdout', 74)])
def test_a_closed_stream_is_said(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, name: Literal['stdin', 'stdout'], code: int
) -> None:
    streams: dict[str, object] = {'stdin': _Text(b''), 'stdout': _Text(b'')}
    monkeypatch.setattr('seamwise.program.console.std_stream', _Standard(**{**streams, name: None}))
    done = invoke('--workspace', workspace, '--seam', 'planner')
    assert (done.exit_code, done.stderr) == (code, f'seamwise: {name} is closed.\n')


def test_a_person_at_the_keyboard_is_told_what_is_waited_for(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        'seamwise.program.console.std_stream', _Standard(stdin=_Keyboard(b''), stdout=_Text(b''))
    )
    done = invoke('--workspace', workspace, '--seam', 'planner')
    assert done.exit_code == 0
    assert done.stderr == 'seamwise: enter one call per line; end with Ctrl-D.\n'


def test_the_help_has_an_example_and_every_exit_code() -> None:
    done = invoke('--help')
    assert done.exit_code == 0
    assert (
        'seamwise run examples/calls.jsonl --workspace examples/workspace --seam all' in done.stdout
    )
    for code in (0, 1, 2, 66, 70, 74, 78, 130, 141):
        assert f' {code}  ' in done.stdout
    assert max(map(len, done.stdout.split('\n'))) <= 80


def test_no_descriptor_is_left_open(workspace: Path) -> None:
    file = workspace.parent / 'calls.jsonl'
    file.write_text(READ)
    invoke(file, '--workspace', workspace, '--seam', 'model')
    before = _descriptors()
    invoke(file, '--workspace', workspace, '--seam', 'model')
    assert _descriptors() <= before


def _descriptors() -> int:
    return sum(1 for _ in Path('/proc/self/fd').iterdir())
