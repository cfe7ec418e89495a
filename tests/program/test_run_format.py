"""`seamwise run --format`: the output of a model instead of JSON Lines."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from seamwise.catalog.parsing import UnreadableCall
from seamwise.program.run import command as run_command
from seamwise.toolhost import output_reader
from seamwise.toolhost.formats import FORMATS
from seamwise.toolhost.output_reader import read_output

from .helpers import SEAMS, objects, run

READ = json.dumps({'name': 'read_file', 'arguments': {'path': 'a.txt'}})
HERMES = f'<tool_call>{READ}</tool_call>'
XML = '<tool name="read_file" args="{&quot;path&quot;: &quot;a.txt&quot;}"/>'


def invoke(workspace: Path, output: str | bytes, *options: str) -> Result:
    arguments = ['--workspace', str(workspace), '--seam', 'model', '--format', 'auto', *options]
    return CliRunner().invoke(run_command, arguments, input=output, prog_name='seamwise run')


def lines(workspace: Path, output: str | bytes, *options: str) -> list[dict[str, Any]]:
    return objects(invoke(workspace, output, *options).stdout)


def test_the_calls_in_a_text_run_in_its_order(workspace: Path) -> None:
    result = lines(workspace, f'First this.\n{HERMES}\n\nThen that: {XML}\n')
    assert [(item['id'], item['line'], item['ok']) for item in result] == [
        ('call-1', 2, True),
        ('call-2', 4, True),
    ]
    assert [item['output']['result']['content'] for item in result] == ['one\ntwo\n'] * 2


def test_the_line_is_the_one_in_which_the_call_begins(workspace: Path) -> None:
    call = '{\n  "tool": "read_file",\n  "arguments": {"path": "a.txt"}\n}'
    result = lines(workspace, f'你好\r\n\n```json\n{call}\n```\n{call} {HERMES}')
    assert [item['line'] for item in result] == [4, 9, 12]


def test_an_id_of_a_provider_is_kept(workspace: Path) -> None:
    functions = [
        {'id': 'call_7', 'type': 'function', 'function': {'name': 'list_files', 'arguments': '{}'}},
        {'id': 'call_8', 'type': 'function', 'function': {'name': 'list_files', 'arguments': '{'}},
        {'type': 'function', 'function': {'name': 'list_files', 'arguments': '{"limit": 1}'}},
    ]
    result = lines(workspace, json.dumps({'role': 'assistant', 'tool_calls': functions}))
    assert [(item['id'], item['ok']) for item in result] == [
        ('call_7', True),
        ('call_8', False),
        ('call-3', True),
    ]
    assert result[1]['output']['error_class'] == 'UnreadableCall'


def test_a_number_as_id_stays_a_number(workspace: Path) -> None:
    request: dict[str, object] = {
        'jsonrpc': '2.0',
        'id': 7,
        'method': 'tools/call',
        'params': {'name': 'list_files', 'arguments': {}},
    }
    result = lines(workspace, json.dumps(request), '--seam', 'all')
    output = {item['seam']: item['output'] for item in result}
    assert [item['id'] for item in result] == [7] * len(SEAMS)
    assert output['jsonrpc']['id'] == 7
    assert output['http']['body']['request_id'] == '7'


def test_an_unreadable_call_is_a_failure_and_the_rest_runs(workspace: Path) -> None:
    broken = '<tool_call>{"name": "write_file", "arguments": {"path": </tool_call>'
    result = lines(workspace, f'{broken}\n{HERMES}', '--seam', 'all')
    assert [item['seam'] for item in result] == SEAMS * 2
    assert [(item['id'], item['line'], item['ok']) for item in result] == [
        ('call-1', 1, False)
    ] * len(SEAMS) + [('call-2', 2, True)] * len(SEAMS)
    output = {item['seam']: item['output'] for item in result[: len(SEAMS)]}
    assert output['jsonrpc']['id'] is None
    assert output['jsonrpc']['error']['code'] == -32700
    assert output['model']['error_class'] == 'UnreadableCall'


def test_the_line_of_an_unreadable_call_is_the_one_in_which_it_begins(workspace: Path) -> None:
    broken = '<tool_call>\n{"name": "read_file",\n "arguments": {"path": oops}}\n</tool_call>'
    masked = '<tool_call>\n{"name": "x",\n "password": "hunter2hunter2", oops}\n</tool_call>'
    fence = '```json\n{\n  "tool": "read_file",\n  "arguments": {"path": "a.txt",}\n}\n```'
    calls = [broken, broken, '', masked, HERMES, fence, broken[:-20]]
    result = lines(workspace, '\n' + '\n'.join(calls))
    assert [(item['line'], item['ok']) for item in result] == [
        (2, False),
        (6, False),
        (11, False),
        (15, True),
        (17, False),
        (22, False),
    ]


def test_a_cut_off_call_runs_nothing(workspace: Path) -> None:
    result = invoke(workspace, '<tool_call>{"name": "execute_command", "arguments": {"command": "e')
    assert [item['output']['error_class'] for item in objects(result.stdout)] == ['UnreadableCall']
    assert result.exit_code == 1


@pytest.mark.parametrize('output', ['', 'I do not know.', '{"name": 7}', '"read_file"'])
def test_a_text_without_a_call_is_noted_and_succeeds(workspace: Path, output: str) -> None:
    result = invoke(workspace, output)
    assert (result.exit_code, result.stdout) == (0, '')
    assert result.stderr == 'seamwise: the output contains no tool call.\n'


def test_no_note_is_written_if_there_is_a_call(workspace: Path) -> None:
    assert invoke(workspace, HERMES).stderr == ''


def test_a_named_format_excludes_the_others(workspace: Path) -> None:
    result = lines(workspace, f'{XML}\n{HERMES}', '--format', 'hermes')
    assert [item['line'] for item in result] == [2]


@pytest.mark.parametrize('name', FORMATS)
def test_every_format_can_be_named(workspace: Path, name: str) -> None:
    assert invoke(workspace, '', '--format', name).exit_code == 0


def test_a_wrong_format_is_a_usage_error_with_suggestions(workspace: Path) -> None:
    result = invoke(workspace, HERMES, '--format', 'heremes')
    assert result.exit_code == 2
    assert result.stdout == ''
    assert "Did you mean 'hermes'?" in result.stderr


def test_limits_on_repetition_apply_to_the_output(workspace: Path) -> None:
    result = lines(workspace, '\n'.join([HERMES] * 3), '--repeat-limit', '2')
    assert [item['ok'] for item in result] == [True, True, False]
    assert result[2]['output']['error_class'] == 'ToolRepeated'


def test_guards_apply_to_the_output(workspace: Path, tmp_path: Path) -> None:
    guards = tmp_path / 'guards.toml'
    guards.write_text('[tools.read_file.rate_limit]\nlimit = 1\nperiod = 60')
    result = lines(workspace, f'{HERMES}\n{HERMES}', '--guards', str(guards))
    assert [(item['ok'], item['attempts']) for item in result] == [(True, 1), (False, 0)]
    assert result[1]['output']['error_class'] == 'RateLimited'


def test_bytes_that_are_not_utf_8_are_one_failure_and_run_nothing(workspace: Path) -> None:
    call = '{"name": "write_file", "arguments": {"path": "b.txt", "content": "x"}}'
    result = lines(workspace, f'é\n{call}\n'.encode() + b'caf\xe9\n' + call.encode())
    assert [(item['id'], item['line'], item['ok']) for item in result] == [('call-1', 3, False)]
    assert not (workspace / 'b.txt').exists()


def test_a_byte_order_mark_is_skipped(workspace: Path) -> None:
    assert [item['ok'] for item in lines(workspace, b'\xef\xbb\xbf' + READ.encode())] == [True]


def test_an_output_that_is_too_long_is_one_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_reader, 'OUTPUT_LIMIT', len(HERMES) + 1)
    assert [line.number for line in read_output(BytesIO(f'\n{HERMES}'.encode()))] == [2]
    line, *others = read_output(BytesIO(f'\n\n{HERMES}'.encode()))
    assert others == []
    assert (line.number, line.id) == (1, 'call-1')
    error = line.call.failure()
    assert isinstance(error, UnreadableCall)
    assert error.problem == f'the output has more than {len(HERMES) + 1} bytes'


def test_a_file_that_does_not_exist_is_reported_in_one_line(workspace: Path) -> None:
    result = invoke(workspace, '', 'missing.txt')
    assert result.exit_code == 66
    assert result.stderr == "seamwise: cannot read 'missing.txt': No such file or directory\n"


def test_the_example_shows_a_call_in_each_of_four_shapes() -> None:
    root = Path(__file__).parent.parent.parent
    arguments = ['--format', 'auto', 'examples/answer.txt', '--seam', 'model']
    done = run('run', *arguments, '--workspace', 'examples/workspace', cwd=root)
    assert done.returncode == 1
    assert done.stderr == b''
    assert [
        (item['id'], item['output'].get('error_class', 'ok')) for item in objects(done.stdout)
    ] == [
        ('call-1', 'ok'),
        ('notes', 'ok'),
        ('call-3', 'FileNotFound'),
        ('call-4', 'UnreadableCall'),
    ]
