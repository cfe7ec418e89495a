"""One conversation: calls run in their order, and those that lead nowhere are refused."""

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
from seamwise.toolhost.host import Host
from seamwise.toolhost.reader import read_calls
from seamwise.toolhost.registry import Registry, registry, tool
from seamwise.toolhost.workspace.workspace import Workspace
from tests.toolhost.helpers import error_of, value_of, tree


class Play(Struct, frozen=True, kw_only=True):
    what: str = 'fine'
    turn: int = 0


class Played(Struct, frozen=True):
    turn: int


OUTCOMES: dict[str, ToolError] = {
    'mistake': FileNotFound('play', 'x'),
    'other': CommandFailed('play', 'x', 1, ''),
}


def play(_workspace: Workspace, args: Play) -> Result[Played, ToolError]:
    if args.what == 'bug':
        raise ZeroDivisionError
    return Failure(OUTCOMES[args.what]) if args.what in OUTCOMES else Success(Played(args.turn))


PLAY: Registry = registry([tool('play', Play, play)]).unwrap()


def outcomes(
    workspace: Workspace, what: str, *, repeat: int = 0, mistakes: int = 0, same: bool = False
) -> list[str]:
    """Play one call a word; `bad` is a line that is no call."""
    host = Host(workspace, registry=PLAY, repeat_limit=repeat, mistake_limit=mistakes)
    lines = [
        f'{{"tool": "play", "arguments": {{"what": "{word}", "turn": {0 if same else turn}}}}}'
        if word != 'bad'
        else '{'
        for turn, word in enumerate(what.split())
    ]
    results = [host.run(line) for line in read_calls(BytesIO('\n'.join(lines).encode()))]
    return ['ok' if type(one) is Success else type(one.failure()).__name__ for one in results]


def test_calls_run_and_bad_lines_give_what_is_wrong_with_them(
    folder: Path, workspace: Workspace
) -> None:
    host = Host(workspace)
    calls = b"""\
{"id": "c1", "tool": "write_file", "arguments": {"path": "a", "content": "one"}}
{"id": "c1", "tool": "write_file", "arguments": {"path": "a", "content": "two", "overwrite": true}}
{"id": "c2", "tool": "write_file", "arguments": {"path": "b"
{"id": "c3", "tool": "write_file", "arguments": {"path": "c", "content": "x"}, "more": 1}
{"tool": "wriet_file"}
{"tool": "read_file", "arguments": {"path": "a"}}
"""
    first, again, broken, more, unknown, last = [
        host.run(line) for line in read_calls(BytesIO(calls))
    ]
    value_of(first)
    error_of(again, SchemaViolations)
    error_of(broken, UnreadableCall)
    error_of(more, SchemaViolations)
    assert error_of(unknown, UnknownTool).suggestions[0] == 'write_file'
    value_of(last)
    assert tree(folder) == {'a': b'one'}


class TestRepetition:
    def test_is_refused_from_the_limit_on(self, workspace: Workspace) -> None:
        assert (
            outcomes(workspace, 'fine ' * 5, repeat=3, same=True)
            == ['ok'] * 3 + ['ToolRepeated'] * 2
        )
        assert outcomes(workspace, 'fine ' * 5, repeat=0, same=True) == ['ok'] * 5
        assert outcomes(workspace, 'fine ' * 5, repeat=3) == ['ok'] * 5

    def test_is_seen_whatever_the_calls_gave(self, workspace: Workspace) -> None:
        assert outcomes(workspace, 'mistake ' * 4, repeat=3, same=True)[-1] == 'ToolRepeated'

    def test_is_seen_over_bad_lines(self, workspace: Workspace) -> None:
        found = outcomes(workspace, 'fine bad fine bad fine bad fine', repeat=3, same=True)
        assert found == ['ok', 'UnreadableCall'] * 3 + ['ToolRepeated']

    def test_a_refused_call_does_not_run(self, folder: Path, workspace: Workspace) -> None:
        host = Host(workspace, repeat_limit=2)
        line = b'{"tool": "execute_command", "arguments": {"command": "echo >> a"}}\n'
        results = [host.run(one) for one in read_calls(BytesIO(line * 4))]
        assert error_of(results[-1], ToolRepeated) == ToolRepeated('execute_command', 4, 2)
        assert tree(folder) == {'a': b'\n\n'}

    def test_an_unknown_tool_is_a_call_too(self, workspace: Workspace) -> None:
        host = Host(workspace, repeat_limit=1)
        first, second = [host.run(one) for one in read_calls(BytesIO(b'{"tool": "x"}\n' * 2))]
        error_of(first, UnknownTool)
        error_of(second, ToolRepeated)


class TestMistakes:
    def test_in_a_row_end_the_conversation(self, workspace: Workspace) -> None:
        found = outcomes(workspace, 'mistake mistake fine fine', mistakes=2)
        assert found == ['FileNotFound', 'FileNotFound', 'TooManyMistakes', 'TooManyMistakes']

    def test_are_not_counted_where_the_limit_is_none(self, workspace: Workspace) -> None:
        assert outcomes(workspace, 'mistake ' * 20 + 'fine')[-1] == 'ok'

    def test_are_forgiven_after_a_success(self, workspace: Workspace) -> None:
        assert outcomes(workspace, 'mistake fine mistake fine', mistakes=2)[-1] == 'ok'

    def test_are_neither_counted_nor_forgiven_by_other_failures(self, workspace: Workspace) -> None:
        assert outcomes(workspace, 'other other other fine', mistakes=2)[-1] == 'ok'
        assert (
            outcomes(workspace, 'mistake other mistake fine', mistakes=2)[-1] == 'TooManyMistakes'
        )

    def test_may_be_bad_lines(self, workspace: Workspace) -> None:
        found = outcomes(workspace, 'mistake bad fine bad', mistakes=2)
        assert found == ['FileNotFound', 'UnreadableCall', 'TooManyMistakes', 'UnreadableCall']

    def test_may_be_repeated_calls(self, workspace: Workspace) -> None:
        found = outcomes(workspace, 'mistake ' * 3, mistakes=2, repeat=1, same=True)
        assert found == ['FileNotFound', 'ToolRepeated', 'TooManyMistakes']

    def test_are_said_with_the_limit(self, workspace: Workspace) -> None:
        host = Host(workspace, mistake_limit=1)
        _, refused = [host.run(one) for one in read_calls(BytesIO(b'{\n{"tool": "list_files"}'))]
        assert error_of(refused, TooManyMistakes) == TooManyMistakes(1, 1)


def test_a_bug_of_a_tool_passes_and_the_next_call_runs(workspace: Workspace) -> None:
    host = Host(workspace, registry=PLAY, mistake_limit=1)
    calls = list(
        read_calls(BytesIO(b'{"tool": "play", "arguments": {"what": "bug"}}\n{"tool": "play"}'))
    )
    with pytest.raises(ZeroDivisionError):
        host.run(calls[0])
    value_of(host.run(calls[1]))
