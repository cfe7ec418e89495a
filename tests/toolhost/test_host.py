"""Host: execution of a conversation, with limits on repetition and mistakes."""

from io import BytesIO
from pathlib import Path

import pytest
from msgspec import Struct

from seamwise import Failure, Result, Success
from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.catalog.tools import (
    CommandFailed,
    FileNotFound,
    ToolError,
    ToolRepeated,
    TooManyMistakes,
    UnknownTool,
)
from seamwise.policies import BulkheadFull, bulkhead
from seamwise.toolhost import Tools, tool
from seamwise.toolhost.builtin import workspace_tools
from seamwise.toolhost.builtin.workspace.workspace import Workspace
from seamwise.toolhost.guards.guarded_call import GuardedRunner
from seamwise.toolhost.host import Host
from seamwise.toolhost.output_reader import read_output
from seamwise.toolhost.reader import read_calls
from tests.toolhost.helpers import error_of, tree, value_of


class Played(Struct, frozen=True):
    turn: int


ERRORS: dict[str, ToolError] = {
    'mistake': FileNotFound('play', 'x'),
    'other': CommandFailed('play', 'x', 1, ''),
}


@tool
def play(outcome: str = 'fine', turn: int = 0) -> Result[Played, ToolError]:
    if outcome == 'bug':
        raise ZeroDivisionError
    return Failure(ERRORS[outcome]) if outcome in ERRORS else Success(Played(turn))


TOOLS: Tools[ToolError] = Tools([play])


def outcome_names(
    workspace: Workspace,
    words: str,
    *,
    repeat_limit: int = 0,
    mistake_limit: int = 0,
    repeated: bool = False,
) -> list[str]:
    """Run one call per word; `bad` is an invalid line. Return `ok` or the name of each error."""
    host = Host(TOOLS, repeat_limit=repeat_limit, mistake_limit=mistake_limit)
    lines: list[str] = []
    for index, word in enumerate(words.split()):
        turn = 0 if repeated else index
        call = f'{{"tool": "play", "arguments": {{"outcome": "{word}", "turn": {turn}}}}}'
        lines.append('{' if word == 'bad' else call)
    results = [host.run(line) for line in read_calls(BytesIO('\n'.join(lines).encode()))]
    return [
        'ok' if type(result) is Success else type(result.failure()).__name__ for result in results
    ]


def test_valid_calls_run_and_invalid_lines_fail(folder: Path, workspace: Workspace) -> None:
    host = Host(workspace_tools(workspace))
    calls = b"""\
{"id": "c1", "tool": "write_file", "arguments": {"path": "a", "content": "one"}}
{"id": "c1", "tool": "write_file", "arguments": {"path": "a", "content": "two", "overwrite": true}}
{"id": "c2", "tool": "write_file", "arguments": {"path": "b"
{"id": "c3", "tool": "write_file", "arguments": {"path": "c", "content": "x"}, "more": 1}
{"tool": "wriet_file"}
{"tool": "read_file", "arguments": {"path": "a"}}
"""
    first, duplicate, broken, extra_key, unknown, last = [
        host.run(line) for line in read_calls(BytesIO(calls))
    ]
    value_of(first)
    error_of(duplicate, SchemaViolations)
    error_of(broken, UnreadableCall)
    error_of(extra_key, SchemaViolations)
    assert error_of(unknown, UnknownTool).suggestions[0] == 'write_file'
    value_of(last)
    assert tree(folder) == {'a': b'one'}


class TestRepetition:
    def test_a_repeated_call_is_refused_from_the_limit_on(self, workspace: Workspace) -> None:
        assert (
            outcome_names(workspace, 'fine ' * 5, repeat_limit=3, repeated=True)
            == ['ok'] * 3 + ['ToolRepeated'] * 2
        )
        assert outcome_names(workspace, 'fine ' * 5, repeat_limit=0, repeated=True) == ['ok'] * 5
        assert outcome_names(workspace, 'fine ' * 5, repeat_limit=3) == ['ok'] * 5

    def test_failed_calls_count_as_repetitions(self, workspace: Workspace) -> None:
        assert (
            outcome_names(workspace, 'mistake ' * 4, repeat_limit=3, repeated=True)[-1]
            == 'ToolRepeated'
        )

    def test_invalid_lines_do_not_interrupt_a_repetition(self, workspace: Workspace) -> None:
        names = outcome_names(
            workspace, 'fine bad fine bad fine bad fine', repeat_limit=3, repeated=True
        )
        assert names == ['ok', 'UnreadableCall'] * 3 + ['ToolRepeated']

    def test_a_refused_call_does_not_run(self, folder: Path, workspace: Workspace) -> None:
        host = Host(workspace_tools(workspace), repeat_limit=2)
        line = b'{"tool": "execute_command", "arguments": {"command": "echo >> a"}}\n'
        results = [host.run(call) for call in read_calls(BytesIO(line * 4))]
        assert error_of(results[-1], ToolRepeated) == ToolRepeated('execute_command', 4, 2)
        assert tree(folder) == {'a': b'\n\n'}

    def test_a_repeated_call_of_an_unknown_tool_is_refused(self, workspace: Workspace) -> None:
        host = Host(workspace_tools(workspace), repeat_limit=1)
        first, second = [host.run(line) for line in read_calls(BytesIO(b'{"tool": "x"}\n' * 2))]
        error_of(first, UnknownTool)
        error_of(second, ToolRepeated)


class TestMistakes:
    def test_mistakes_in_a_row_end_the_conversation(self, workspace: Workspace) -> None:
        names = outcome_names(workspace, 'mistake mistake fine fine', mistake_limit=2)
        assert names == ['FileNotFound', 'FileNotFound', 'TooManyMistakes', 'TooManyMistakes']

    def test_mistakes_are_not_limited_by_default(self, workspace: Workspace) -> None:
        assert outcome_names(workspace, 'mistake ' * 20 + 'fine')[-1] == 'ok'

    def test_a_success_resets_the_mistakes(self, workspace: Workspace) -> None:
        assert outcome_names(workspace, 'mistake fine mistake fine', mistake_limit=2)[-1] == 'ok'

    def test_other_failures_neither_count_as_mistakes_nor_reset_them(
        self, workspace: Workspace
    ) -> None:
        assert outcome_names(workspace, 'other other other fine', mistake_limit=2)[-1] == 'ok'
        assert (
            outcome_names(workspace, 'mistake other mistake fine', mistake_limit=2)[-1]
            == 'TooManyMistakes'
        )

    def test_invalid_lines_count_as_mistakes(self, workspace: Workspace) -> None:
        names = outcome_names(workspace, 'mistake bad fine bad', mistake_limit=2)
        assert names == ['FileNotFound', 'UnreadableCall', 'TooManyMistakes', 'UnreadableCall']

    def test_refused_repetitions_count_as_mistakes(self, workspace: Workspace) -> None:
        names = outcome_names(
            workspace, 'mistake ' * 3, mistake_limit=2, repeat_limit=1, repeated=True
        )
        assert names == ['FileNotFound', 'ToolRepeated', 'TooManyMistakes']

    def test_the_error_contains_the_count_and_the_limit_of_mistakes(
        self, workspace: Workspace
    ) -> None:
        host = Host(workspace_tools(workspace), mistake_limit=1)
        _, refused = [host.run(line) for line in read_calls(BytesIO(b'{\n{"tool": "list_files"}'))]
        assert error_of(refused, TooManyMistakes) == TooManyMistakes(1, 1)


def test_an_exception_of_a_tool_propagates_and_the_next_call_runs(workspace: Workspace) -> None:
    host = Host(TOOLS, mistake_limit=1)
    calls = list(
        read_calls(BytesIO(b'{"tool": "play", "arguments": {"outcome": "bug"}}\n{"tool": "play"}'))
    )
    with pytest.raises(ZeroDivisionError):
        host.run(calls[0])
    value_of(host.run(calls[1]))


def test_an_exception_of_a_tool_does_not_end_the_count_of_mistakes(workspace: Workspace) -> None:
    host = Host(TOOLS, mistake_limit=2)
    bug, *mistakes = read_calls(
        BytesIO(
            b'{"tool": "play", "arguments": {"outcome": "bug"}}\n'
            + b'{"tool": "play", "arguments": {"other": 1}}\n' * 3
        )
    )
    with pytest.raises(ZeroDivisionError):
        host.run(bug)
    results = [host.run(line) for line in mistakes]
    assert error_of(results[-1], TooManyMistakes) == TooManyMistakes(2, 2)


@tool(namespace='bank')
def pay(amount: int) -> int:
    """Pay."""
    return amount


@pytest.mark.parametrize(
    'call',
    [
        b'{"name": "bank__pay", "arguments": {"amount": 1}}',
        b'{"namespace": "bank", "name": "pay", "arguments": {"amount": 1}}',
    ],
)
def test_the_guards_of_a_tool_apply_to_each_spelling_of_its_name(call: bytes) -> None:
    guard = bulkhead(1, name='bank__pay', queue=0)
    host = Host(Tools([pay]), runner=GuardedRunner({'bank__pay': guard}), repeat_limit=0)
    [line] = read_output(BytesIO(call))
    value_of(host.run(line))
    with guard.acquire():
        error_of(host.run(line), BulkheadFull)
