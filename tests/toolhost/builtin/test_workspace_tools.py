"""The tools of a workspace: parameters, results, schemas, exclusive writers."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from seamwise import Result
from seamwise.catalog.tools import InvalidParameter, MissingParameter, ToolError, UnknownTool
from seamwise.policies import GuardError
from seamwise.toolhost.builtin import workspace_tools
from seamwise.toolhost.builtin.read_file import FileText
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, run_tool, tree, value_of

TOOL_NAMES = (
    'apply_diff',
    'execute_command',
    'list_files',
    'read_file',
    'replace_in_file',
    'search_files',
    'write_file',
)


def run(
    workspace: Workspace, name: str, arguments: Mapping[str, object] | None = None
) -> Result[object, ToolError | GuardError]:
    return run_tool(workspace_tools(workspace), name, arguments or {})


def test_a_workspace_has_seven_tools(workspace: Workspace) -> None:
    assert workspace_tools(workspace).names == TOOL_NAMES


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
    value_of(run(workspace, name, required))
    value_of(run(workspace, name, required | optional))
    error = error_of(run(workspace, name, required | {'other': 1}), InvalidParameter)
    assert (
        error.reason
        == f'is not a parameter of {name}; its parameters are {", ".join([*required, *optional])}'
    )
    if required:
        missing = error_of(run(workspace, name), MissingParameter)
        assert [missing.parameter, *(finding.parameter for finding in missing.also)] == list(
            required
        )
        assert missing.example


@pytest.mark.parametrize(
    ('name', 'parameter', 'valid_values', 'invalid_values'),
    [
        ('read_file', 'start_line', [1, 1.0], [0, -1, '1', True, 1.5, None]),
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
def test_values_of_the_wrong_type_or_range_are_rejected(
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
        value_of(run(workspace, name, valid_arguments[name] | {parameter: value}))
    content_before = tree(folder)
    for value in invalid_values:
        error = error_of(
            run(workspace, name, valid_arguments[name] | {parameter: value}),
            InvalidParameter,
        )
        assert (error.tool, error.parameter) == (name, parameter)
    assert tree(folder) == content_before


def test_an_end_line_below_the_start_line_is_rejected(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('one\ntwo\n')
    error = error_of(
        run(workspace, 'read_file', {'path': 'a', 'start_line': 2, 'end_line': 1}),
        InvalidParameter,
    )
    assert (error.parameter, error.reason) == ('end_line', 'must be start_line (2) or more, not 1')
    text = value_of(run(workspace, 'read_file', {'path': 'a', 'start_line': 2, 'end_line': 2}))
    assert text == FileText('a', 'two\n', 2, 2, 2, truncated=False)


def test_a_result_has_the_documented_keys(folder: Path, workspace: Workspace) -> None:
    (folder / 'a').write_text('one\n')

    def keys(name: str, arguments: dict[str, object]) -> list[str]:
        return list(msgspec.to_builtins(value_of(run(workspace, name, arguments))))

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
    error = error_of(run(workspace, 'raed_file', {'path': 7}), UnknownTool)
    assert error == UnknownTool(
        'raed_file', 'default', TOOL_NAMES, ('read_file', 'write_file', 'replace_in_file')
    )
    for name in ('', 'zzz', 'x' * 1_000_000, '__class__', '\n'):
        assert error_of(run(workspace, name), UnknownTool).suggestions == ()
    assert len(error_of(run(workspace, 'file'), UnknownTool).suggestions) <= 3


def test_only_tools_without_side_effects_are_repeatable(workspace: Workspace) -> None:
    assert [tool.name for tool in workspace_tools(workspace) if tool.is_repeatable] == [
        'read_file',
        'list_files',
        'search_files',
    ]


def test_each_parameter_and_tool_has_a_description_for_the_model(workspace: Workspace) -> None:
    for tool in workspace_tools(workspace):
        assert tool.description.endswith('.'), tool
        properties: Any = tool.input_schema['properties']
        for name in properties:
            assert properties[name]['description'], (tool, name)


def test_each_field_of_a_result_has_a_description_for_the_model(workspace: Workspace) -> None:
    for tool in workspace_tools(workspace):
        schema: Any = tool.output_schema
        for definition in (schema, *schema.get('$defs', {}).values()):
            assert definition['description'].endswith('.'), tool
            assert '\n' not in definition['description']
            for name, field in definition['properties'].items():
                assert field['description'].endswith('.'), (tool, name)


class TestExclusiveWriters:
    def key(self, workspace: Workspace, path: str, name: str = 'write_file') -> object:
        arguments = {
            'write_file': {'path': path, 'content': ''},
            'replace_in_file': {'path': path, 'search': 'a', 'replace': 'b'},
            'apply_diff': {'path': path, 'diff': ''},
            'read_file': {'path': path},
        }
        tool = value_of(workspace_tools(workspace).find(name))
        return value_of(tool.bind(arguments[name])).key

    def test_each_spelling_of_a_path_has_the_same_key(
        self, folder: Path, workspace: Workspace
    ) -> None:
        (folder / 'a').mkdir()
        (folder / 'a' / 'file').touch()
        (folder / 'link').symlink_to('a')
        spellings = ['a/file', './a//file', 'a/../a/file', 'link/file', str(folder / 'a' / 'file')]
        keys = {self.key(workspace, path) for path in spellings}
        assert keys == {('file', str(folder / 'a' / 'file'))}
        assert self.key(workspace, 'a/other') not in keys

    def test_all_writers_share_the_keys(self, workspace: Workspace) -> None:
        names = ('write_file', 'replace_in_file', 'apply_diff')
        assert len({self.key(workspace, 'a', name) for name in names}) == 1
        assert self.key(workspace, 'a', 'read_file') is None

    @pytest.mark.parametrize('path', ['', 'a\0b', '/', '../../x', 'x' * 5_000, 'loop/x', 'é'])
    def test_any_path_has_a_key(self, folder: Path, workspace: Workspace, path: str) -> None:
        (folder / 'loop').symlink_to('loop')
        assert isinstance(self.key(workspace, path), tuple)


def test_the_host_does_not_import_the_packages_of_its_tools() -> None:
    code = (
        'import sys; from seamwise.toolhost import Tools, tool, toolset; '
        "sys.exit(bool({'rapidfuzz', 'asyncio'} & {*sys.modules}))"
    )
    assert subprocess.run([sys.executable, '-I', '-c', code], check=False).returncode == 0


def test_a_missing_package_of_the_tools_names_the_extra() -> None:
    code = (
        'import sys, importlib.util as util; util.find_spec = lambda name: None; '
        'import seamwise.toolhost.builtin'
    )
    ended = subprocess.run(
        [sys.executable, '-I', '-c', code], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert (
        'The tools of a workspace require rapidfuzz: install "seamwise[toolhost]".' in ended.stderr
    )
