"""Registry: lookup of a tool, conversion of its arguments, execution."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from seamwise import Result, Success
from seamwise.catalog.tools import (
    InvalidParameter,
    MissingParameter,
    RegistrationRejected,
    UnknownTool,
)
from seamwise.toolhost.calls import ToolCall
from seamwise.toolhost.registry import STANDARD, Registry, registry, tool
from seamwise.toolhost.tools.read_file import FileText
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, tree, value_of

TOOL_NAMES = (
    'apply_diff',
    'execute_command',
    'list_files',
    'read_file',
    'replace_in_file',
    'search_files',
    'write_file',
)


class Ping(Struct, frozen=True, kw_only=True):
    count: int = 1


class Pong(Struct, frozen=True):
    count: int


def ping(_workspace: Workspace, args: Ping) -> Success[Pong]:
    return Success(Pong(args.count))


def call(name: str, arguments: Mapping[str, object] | None = None) -> ToolCall:
    return ToolCall('c1', name, dict(arguments or {}), 1)


def test_the_standard_registry_has_seven_tools() -> None:
    assert STANDARD.names == TOOL_NAMES


@pytest.mark.parametrize(
    ('name', 'required', 'optional'),
    [
        ('read_file', {'path': 'a'}, {'start_line': 1, 'end_line': 2, 'encoding': 'utf-8'}),
        ('write_file', {'path': 'new', 'content': ''}, {'overwrite': True}),
        ('list_files', {}, {'path': '.', 'recursive': True, 'limit': 5}),
        (
            'search_files',
            {'pattern': 'o'},
            {'path': '.', 'glob': '*', 'case_sensitive': False, 'limit': 5, 'timeout': 30},
        ),
        (
            'replace_in_file',
            {'path': 'a', 'search': 'one', 'replace': 'one'},
            {'replace_all': True, 'line': 1},
        ),
        ('apply_diff', {'path': 'a', 'diff': '@@ -1 +1 @@\n-one\n+one\n'}, {}),
        ('execute_command', {'command': 'true'}, {'cwd': '.', 'timeout': 30}),
    ],
)
def test_a_tool_accepts_its_parameters_only(
    folder: Path,
    workspace: Workspace,
    name: str,
    required: dict[str, object],
    optional: dict[str, object],
) -> None:
    (folder / 'a').write_text('one\ntwo\n')
    value_of(STANDARD.run(workspace, call(name, required)))
    value_of(STANDARD.run(workspace, call(name, required | optional)))
    error = error_of(STANDARD.run(workspace, call(name, required | {'other': 1})), InvalidParameter)
    assert (
        error.reason
        == f'is not a parameter of {name}; its parameters are {", ".join([*required, *optional])}'
    )
    if required:
        missing = error_of(STANDARD.run(workspace, call(name)), MissingParameter)
        assert [missing.parameter, *(finding.parameter for finding in missing.also)] == list(
            required
        )
        assert missing.example


@pytest.mark.parametrize(
    ('name', 'parameter', 'valid_values', 'invalid_values'),
    [
        ('read_file', 'start_line', [1], [0, -1, '1', True, 1.0, None]),
        ('read_file', 'end_line', [1, None], [0, '1', True, 1.5]),
        ('read_file', 'encoding', ['ascii'], [None, 8]),
        ('write_file', 'content', ['', 'x'], [None, 7, ['x']]),
        ('write_file', 'overwrite', [True], ['true', 1, None]),
        ('list_files', 'limit', [1, 10_000], [0, 10_001, '5', True, None]),
        ('list_files', 'recursive', [True, False], [0, 'no', None]),
        ('search_files', 'limit', [1, 10_000], [0, 10_001]),
        ('search_files', 'timeout', [30, 60, 60.0], [0.09, 60.1, 0, '5', True, None]),
        ('search_files', 'glob', [None, '*'], [7]),
        ('search_files', 'case_sensitive', [True, False], [1, None]),
        ('replace_in_file', 'search', ['one'], ['', None]),
        ('replace_in_file', 'line', [None, 1], [0, '1', True]),
        ('execute_command', 'command', ['true'], ['', None, ['true']]),
        ('execute_command', 'timeout', [30, 600], [0.09, 600.1, '5']),
    ],
)
def test_values_outside_of_their_range_are_rejected(
    folder: Path,
    workspace: Workspace,
    name: str,
    parameter: str,
    valid_values: list[object],
    invalid_values: list[object],
) -> None:
    valid_arguments: dict[str, dict[str, object]] = {
        'read_file': {'path': 'a'},
        'write_file': {'path': 'a', 'content': 'one\n', 'overwrite': True},
        'list_files': {},
        'search_files': {'pattern': 'o'},
        'replace_in_file': {'path': 'a', 'search': 'one', 'replace': 'one'},
        'execute_command': {'command': 'true'},
    }
    for value in valid_values:
        (folder / 'a').write_text('one\n')
        value_of(STANDARD.run(workspace, call(name, valid_arguments[name] | {parameter: value})))
    content_before = tree(folder)
    for value in invalid_values:
        error = error_of(
            STANDARD.run(workspace, call(name, valid_arguments[name] | {parameter: value})),
            InvalidParameter,
        )
        assert (error.tool, error.parameter) == (name, parameter)
    assert tree(folder) == content_before


def test_an_end_line_below_the_start_line_is_rejected(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('one\ntwo\n')
    error = error_of(
        STANDARD.run(workspace, call('read_file', {'path': 'a', 'start_line': 2, 'end_line': 1})),
        InvalidParameter,
    )
    assert (error.parameter, error.reason) == ('end_line', 'must be start_line (2) or more, not 1')
    text = value_of(
        STANDARD.run(workspace, call('read_file', {'path': 'a', 'start_line': 2, 'end_line': 2}))
    )
    assert text == FileText('a', 'two\n', 2, 2, 2, truncated=False)


def test_a_result_has_the_documented_keys(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('one\n')

    def keys(name: str, arguments: dict[str, object]) -> list[str]:
        value: Struct = value_of(STANDARD.run(workspace, call(name, arguments)))
        return list(msgspec.to_builtins(value))

    assert keys('read_file', {'path': 'a'}) == [
        'path',
        'content',
        'start_line',
        'end_line',
        'total_lines',
        'truncated',
    ]
    assert keys('write_file', {'path': 'b', 'content': ''}) == ['path', 'bytes', 'created']
    assert keys('list_files', {}) == ['path', 'entries', 'truncated']
    assert keys('search_files', {'pattern': 'x'}) == ['matches', 'truncated']
    assert keys('replace_in_file', {'path': 'a', 'search': 'one', 'replace': 'two'}) == [
        'path',
        'replacements',
    ]
    assert keys('apply_diff', {'path': 'a', 'diff': '@@ -1 +1 @@\n-two\n+one\n'}) == [
        'path',
        'hunks',
        'added',
        'removed',
    ]
    assert keys('execute_command', {'command': 'true'}) == ['exit_code', 'output', 'truncated']


def test_an_unknown_tool_is_reported_with_similar_names(workspace: Workspace) -> None:
    error = error_of(STANDARD.run(workspace, call('raed_file', {'path': 7})), UnknownTool)
    assert error == UnknownTool(
        'raed_file', 'default', TOOL_NAMES, ('read_file', 'write_file', 'replace_in_file')
    )
    for name in ('', 'zzz', 'x' * 1_000_000, '__class__', '\n'):
        assert error_of(STANDARD.run(workspace, call(name)), UnknownTool).suggestions == ()
    assert len(error_of(STANDARD.run(workspace, call('file')), UnknownTool).suggestions) <= 3


def test_a_registry_runs_the_tools_it_was_created_with(workspace: Workspace) -> None:
    tools: Registry = value_of(registry([tool('ping', Ping, ping)]))
    assert tools.names == ('ping',)
    assert value_of(tools.run(workspace, call('ping', {'count': 2}))) == Pong(2)
    error_of(tools.run(workspace, call('read_file')), UnknownTool)


@pytest.mark.parametrize('name', ['', 'Ping', 'a-b', '1a', '_a', 'a' * 65, 'a\n', 'ä'])
def test_an_invalid_tool_name_is_rejected(name: str) -> None:
    error = error_of(registry([tool(name, Ping, ping)]), RegistrationRejected)
    assert error == RegistrationRejected(
        name, 'a name has lower-case letters, digits and "_", and begins with a letter'
    )


def test_a_duplicate_tool_name_is_rejected() -> None:
    error = error_of(registry([tool('ping', Ping, ping)] * 2), RegistrationRejected)
    assert error == RegistrationRejected('ping', 'another tool has this name')


def test_an_exception_of_a_tool_propagates(workspace: Workspace) -> None:
    def broken(_workspace: Workspace, _args: Ping) -> Result[Pong, UnknownTool]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        value_of(registry([tool('ping', Ping, broken)])).run(workspace, call('ping'))
