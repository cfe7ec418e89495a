"""Strict reading of calls from JSON Lines: every line becomes a call or a typed failure."""

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from seamwise import Success
from seamwise._runtime.strict_json import DIGITS_LIMIT
from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.toolhost import reader
from seamwise.toolhost.calls import InputLine, ToolCall
from seamwise.toolhost.reader import (
    DEPTH_LIMIT,
    EXCERPT_LIMIT,
    ID_LIMIT,
    LINE_LIMIT,
    MAX_PROBLEMS,
    read_calls,
)
from tests.toolhost.helpers import error_of, value_of

VALID_LINE = b'{"tool": "list_files"}'


def read_lines(data: bytes) -> list[InputLine]:
    return list(read_calls(BytesIO(data)))


def read_line(data: bytes) -> InputLine:
    (line,) = read_lines(data)
    return line


def unreadable(data: bytes) -> UnreadableCall:
    line = read_line(data)
    assert line.id is None
    return error_of(line.call, UnreadableCall)


def problems(line: InputLine) -> list[tuple[str, str]]:
    return [
        (problem.pointer, problem.message)
        for problem in error_of(line.call, SchemaViolations).problems
    ]


class TestValidCall:
    def test_a_call_is_read_with_all_its_fields(self) -> None:
        line = read_line(
            b'{"id": "c1", "tool": "read_file", "arguments": '
            + '{"path": "数据.txt", "n": [1, 1.5, true, null]}}'.encode()
        )
        assert (line.number, line.id) == (1, 'c1')
        assert value_of(line.call) == ToolCall(
            'read_file', {'path': '数据.txt', 'n': [1, 1.5, True, None]}, id='c1', line=1
        )

    def test_id_and_arguments_of_a_call_are_optional(self) -> None:
        assert value_of(read_line(b'\n\n' + VALID_LINE).call) == ToolCall(
            'list_files', {}, id='line-3', line=3
        )

    @pytest.mark.parametrize(
        'call_id', ['x', ' ', '数', 'a\nb', '\x00', 'x' * ID_LIMIT, '😀' * ID_LIMIT]
    )
    def test_an_id_can_be_any_text(self, call_id: str) -> None:
        line = read_line(json.dumps({'tool': 'x', 'id': call_id}).encode())
        assert line.id == value_of(line.call).id == call_id

    @given(
        st.dictionaries(
            st.text(),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5
            ),
        )
    )
    def test_arguments_are_read_unchanged(self, arguments: dict[str, object]) -> None:
        for text in (
            json.dumps({'tool': 'x', 'arguments': arguments}),
            json.dumps({'arguments': arguments, 'tool': 'x'}, indent=None),
        ):
            assert value_of(read_line(text.encode()).call).arguments == arguments


class TestLineBoundaries:
    @pytest.mark.parametrize(
        ('data', 'numbers'),
        [
            (b'', []),
            (b'\n', []),
            (b'\xef\xbb\xbf', []),
            (b'\xef\xbb\xbf\n' + VALID_LINE, [2]),
            (b'\xef\xbb\xbf' + VALID_LINE, [1]),
            (VALID_LINE, [1]),
            (VALID_LINE + b'\n' + VALID_LINE + b'\n', [1, 2]),
            (b'\n \t\r\n' + VALID_LINE + b'\r\n\r\n' + VALID_LINE, [3, 5]),
            (b'  ' + VALID_LINE + b'  \n', [1]),
        ],
    )
    def test_blank_lines_are_skipped_but_counted(self, data: bytes, numbers: list[int]) -> None:
        results = read_lines(data)
        assert [line.number for line in results] == numbers
        assert [value_of(line.call).line for line in results] == numbers

    def test_a_line_ends_at_a_line_feed_only(self) -> None:
        """Other Unicode line ends are ordinary characters."""
        text = 'a\u2028b\u2029c\x85d'
        assert (
            value_of(read_line(json.dumps({'tool': text}, ensure_ascii=False).encode()).call).tool
            == text
        )

    def test_a_byte_order_mark_is_skipped_at_the_start_only(self) -> None:
        first, second = read_lines(VALID_LINE + b'\n\xef\xbb\xbf' + VALID_LINE)
        value_of(first.call)
        assert error_of(second.call, UnreadableCall).position == 0

    def test_a_line_is_yielded_before_the_next_one_is_read(self) -> None:
        reads: list[int] = []

        class Slow(BytesIO):
            @override
            def readline(self, size: int | None = -1, /) -> bytes:
                reads.append(1)
                return super().readline(size)

        results = read_calls(Slow(VALID_LINE + b'\n' + VALID_LINE + b'\n'))
        next(results)
        assert len(reads) == 1

    def test_an_error_of_the_stream_propagates(self) -> None:
        class Broken(BytesIO):
            @override
            def readline(self, size: int | None = -1, /) -> bytes:
                raise OSError(5, 'broken')

        with pytest.raises(OSError, match='broken'):
            next(read_calls(Broken()))


class TestInvalidJson:
    @pytest.mark.parametrize(
        ('data', 'problem', 'position'),
        [
            (b'hello', 'invalid character', 0),
            (b'{"tool": NaN}', 'invalid character', 9),
            (b'{"tool": Infinity}', 'invalid character', 9),
            (b'{"tool": -Infinity}', 'invalid character', 10),
            (b'{"tool": "x",}', 'trailing comma in object', 13),
            (b'{"tool": ["x",]}', 'trailing comma in array', 14),
            (b'{"tool" "x"}', "expected ':'", 8),
            (b"{'tool': 'x'}", 'object keys must be strings', 1),
            (b'{"tool": "x"} {}', 'trailing characters', 15),
            (b'{"tool": 01}', 'invalid number', 10),
            (b'{"tool": "a\tb"}', 'invalid character', 11),
            (b'{"tool": "\\x"}', 'invalid escape character in string', 12),
            (b'{"tool": "x"', 'it is cut off', 12),
            (b'{"tool": 1  \r\n', 'it is cut off', 10),
            (b'"' + b'[' * 500, 'it is cut off', 501),
            (b'{"tool": "\\ud83d', 'it is cut off', 16),
            (b'{"tool": "\\ud83d\\ude', 'it is cut off', 20),
            (b'{"tool": "\\u12', 'it is cut off', 14),
            (b'{"tool": "\\u12"}', 'invalid character in unicode escape', 10),
            (b'{"tool": "\\ud800"', 'it contains half of a surrogate pair', 10),
            (b'{"tool": "\\\\\\ud800"}', 'it contains half of a surrogate pair', 12),
            (b'{"tool": "\\\\ud800"', 'it is cut off', 18),
            (b'{"tool": "\\ud83d\\ude42\\ud83d"}', 'it contains half of a surrogate pair', 22),
            (b'{"tool": "\\ud800 and more text"}', 'it contains half of a surrogate pair', 10),
            (b'{"tool": "\\udc00"}', 'it contains half of a surrogate pair', 10),
            (b'{"tool": "x", "a": 1e999}', 'number out of range', 19),
            (b'{"1e999": "1e999", "a": [1, 1e999]}', 'number out of range', 28),
            (b'{"a": ' + b'9' * (DIGITS_LIMIT + 1) + b'}', 'integer value out of range', 6),
            (b'\x00', 'invalid character', 0),
            (b'// {}', 'invalid character', 0),
        ],
    )
    def test_invalid_json_is_reported_with_its_position(
        self, data: bytes, problem: str, position: int
    ) -> None:
        error = unreadable(data)
        assert (error.format, error.problem, error.position) == ('json', problem, position)

    @pytest.mark.parametrize(
        ('data', 'byte', 'position'),
        [(b'\xff', 'ff', 0), (b'{"tool": "caf\xe9"}', 'e9', 13), (b'\xed\xa0\x80', 'ed', 0)],
    )
    def test_bytes_that_are_not_utf_8_are_reported_with_their_position(
        self, data: bytes, byte: str, position: int
    ) -> None:
        error = unreadable(data)
        assert (error.problem, error.position) == (f'byte 0x{byte} is not UTF-8', position)
        assert '\ufffd' in error.excerpt

    @pytest.mark.parametrize(
        'piece', [b'[', b'{"a":', b'{"tool": "x", "arguments": {"a": [', b'[{}, ']
    )
    def test_deep_nesting_is_rejected_without_recursion(self, piece: bytes) -> None:
        error = unreadable(piece * 100_000)
        assert error.problem == f'it is nested more than {DEPTH_LIMIT} levels deep'
        assert 0 < error.position <= DEPTH_LIMIT * len(piece)

    def test_nesting_up_to_the_limit_is_accepted(self) -> None:
        inner = DEPTH_LIMIT - 2
        deep = b'{"tool": "x", "arguments": {"a": ' + b'[' * inner + b']' * inner + b'}}'
        value_of(read_line(deep).call)
        assert unreadable(deep.replace(b'[]', b'[[]]')).position == deep.index(b'[') + inner

    def test_brackets_in_strings_do_not_count_as_nesting(self) -> None:
        text = '[' * 1_000 + '\\"{' + '"'
        assert (
            value_of(
                read_line(json.dumps({'tool': text, 'arguments': {'a': [[]] * 300}}).encode()).call
            ).tool
            == text
        )

    def test_an_excerpt_is_short_and_redacted(self) -> None:
        error = unreadable(b'{"password": "hunter2-and-more", "text": "' + b'x' * 10_000)
        assert 'hunter2' not in error.excerpt
        assert len(error.excerpt) == EXCERPT_LIMIT
        key = b'{"key": "-----BEGIN RSA PRIVATE KEY-----\\nMIIEow' + b'A' * 20_000
        assert 'MIIEow' not in unreadable(key).excerpt

    def test_the_apparent_id_and_tool_of_invalid_json_are_in_the_error_only(self) -> None:
        error = unreadable(b'{"id": "c1", "tool": "read_file", ')
        assert (error.id, error.tool) == ('c1', 'read_file')
        error = unreadable(b'{"id": 7, "tool": "' + b'x' * 500)
        assert (error.id, error.tool) == (None, None)

    @given(st.binary(max_size=60))
    def test_any_bytes_yield_one_result_per_line_that_is_not_blank(self, data: bytes) -> None:
        count = sum(
            bool(text.strip(b' \t\r\n')) for text in data.removeprefix(b'\xef\xbb\xbf').split(b'\n')
        )
        assert len(read_lines(data)) == count
        assert type(read_lines(data + b'\n' + VALID_LINE)[-1].call) is Success


class TestLineOverLimit:
    @pytest.fixture(autouse=True)
    def limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reader, 'LINE_LIMIT', 64)

    @pytest.mark.parametrize('mark', [b'', b'\xef\xbb\xbf'])
    @pytest.mark.parametrize('length', [65, 66, 67, 68, 127, 128, 129, 1_000])
    @pytest.mark.parametrize('end', [b'', b'\n'])
    def test_a_line_over_the_limit_is_unreadable(
        self, mark: bytes, length: int, end: bytes
    ) -> None:
        data = mark + VALID_LINE.ljust(length - len(mark)) + end
        error = unreadable(data)
        assert (error.problem, error.position) == ('the line has more than 64 bytes', 64)
        if end:
            assert [line.number for line in read_lines(data + VALID_LINE)] == [1, 2]

    def test_a_line_of_the_maximum_length_is_read(self) -> None:
        for end in (b'', b'\n'):
            value_of(read_line(VALID_LINE.ljust(64) + end).call)

    def test_a_line_over_the_limit_is_never_treated_as_blank(self) -> None:
        unreadable(b' ' * 100 + VALID_LINE)


def test_a_line_of_fifty_megabytes_is_read_in_small_pieces() -> None:
    class Huge(BytesIO):
        """One line of 50 MB that must be read in pieces up to the limit."""

        remaining = 50_000_000

        @override
        def readline(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            assert 0 < size <= LINE_LIMIT + 1
            length = min(size, self.remaining)
            self.remaining -= length
            return b'a' * length if length else b''

    (line,) = read_calls(Huge())
    assert error_of(line.call, UnreadableCall).position == LINE_LIMIT


class TestSchemaViolations:
    @pytest.mark.parametrize(
        ('data', 'line_id', 'expected'),
        [
            (b'[]', None, [('', 'must be an object, not a list')]),
            (b'null', None, [('', 'must be an object, not null')]),
            (b'7', None, [('', 'must be an object, not 7')]),
            (b'"password=hunter2"', None, [('', 'must be an object, not a string')]),
            (b'{}', None, [('/tool', 'is missing')]),
            (b'{"id": "c1"}', 'c1', [('/tool', 'is missing')]),
            (b'{"id": "c1", "tool": null}', 'c1', [('/tool', 'must be a string, not null')]),
            (
                b'{"id": "c1", "tool": "x", "arguments": null}',
                'c1',
                [('/arguments', 'must be an object, not null')],
            ),
            (
                b'{"id": "c1", "tool": "x", "arguments": []}',
                'c1',
                [('/arguments', 'must be an object, not a list')],
            ),
            (b'{"id": "", "tool": "x"}', None, [('/id', 'must have 1 to 128 characters, not 0')]),
            (
                b'{"id": null, "tool": "x"}',
                None,
                [('/id', 'must be a string of 1 to 128 characters, not null')],
            ),
            (
                b'{"id": 7, "tool": "x"}',
                None,
                [('/id', 'must be a string of 1 to 128 characters, not 7')],
            ),
            (
                b'{"id": "' + b'x' * 129 + b'", "tool": "x"}',
                None,
                [('/id', 'must have 1 to 128 characters, not 129')],
            ),
            (
                b'{"id": "c1", "tool": "x", "a/b~c": 1, "Tool": 2}',
                'c1',
                [
                    ('/Tool', 'is not a key of a call; the keys are id, tool, arguments'),
                    ('/a~1b~0c', 'is not a key of a call; the keys are id, tool, arguments'),
                ],
            ),
            (
                b'{"tool": 1, "arguments": 2}',
                None,
                [('/tool', 'must be a string, not 1'), ('/arguments', 'must be an object, not 2')],
            ),
        ],
    )
    def test_all_problems_of_a_line_are_reported(
        self, data: bytes, line_id: str | None, expected: list[tuple[str, str]]
    ) -> None:
        line = read_line(data)
        assert (line.id, problems(line)) == (line_id, expected)

    @pytest.mark.parametrize(
        ('data', 'line_id', 'key'),
        [
            (b'{"id": "c1", "tool": "x", "tool": "y"}', 'c1', 'tool'),
            (
                b'{"id": "c1", "tool": "x", "arguments": {"a": {"path": 1, "path": 1}}}',
                'c1',
                'path',
            ),
            (b'{"id": "c1", "tool": "x", "arguments": {"id": 1, "id": 1}}', 'c1', 'id'),
            (b'{"id": "c1", "tool": "x", "id": "c2"}', None, 'id'),
        ],
    )
    def test_a_duplicate_key_is_reported(self, data: bytes, line_id: str | None, key: str) -> None:
        line = read_line(data)
        assert line.id == line_id
        assert error_of(line.call, SchemaViolations).problems[0] == Problem(
            '', f'has the key {key!r} twice in one object'
        )


class TestDuplicateId:
    def test_a_duplicate_id_makes_a_line_invalid_and_is_kept(self) -> None:
        first, second, third = read_lines(b'{"id": "c1", "tool": "x"}\n' * 3)
        value_of(first.call)
        for line in (second, third):
            assert line.id == 'c1'
            assert problems(line) == [('/id', "must be unique: line 1 uses 'c1'")]

    def test_ids_of_invalid_lines_count_as_used(self) -> None:
        _, second = read_lines(b'{"id": "c1", "tool": 7}\n{"id": "c1", "tool": "x"}\n')
        assert problems(second) == [('/id', "must be unique: line 1 uses 'c1'")]

    def test_explicit_and_default_ids_are_compared(self) -> None:
        _, second = read_lines(b'{"id": "line-2", "tool": "x"}\n' + VALID_LINE)
        assert second.id is None
        assert problems(second) == [('/id', "must be unique: line 1 uses 'line-2'")]
        _, second = read_lines(VALID_LINE + b'\n{"id": "line-1", "tool": "x"}\n')
        assert second.id == 'line-1'
        assert problems(second) == [('/id', "must be unique: line 1 uses 'line-1'")]

    def test_apparent_ids_of_invalid_json_do_not_count_as_used(self) -> None:
        broken, second, missing, fourth = read_lines(
            b'{"id": "c1", "tool": \n{"id": "c1", "tool": "x"}\n[]\n{"id": "line-3", "tool": "x"}'
        )
        for line in (broken, missing):
            assert line.id is None
        for line in (second, fourth):
            value_of(line.call)


def open_files(folder: Path) -> Iterator[BinaryIO]:
    for data in (b'', b'{', b'\xff\n' + VALID_LINE):
        (folder / 'calls').write_bytes(data)
        with (folder / 'calls').open('rb') as stream:
            yield stream


def test_calls_are_read_from_files(folder: Path) -> None:
    assert [
        [type(line.call).__name__ for line in read_calls(stream)] for stream in open_files(folder)
    ] == [
        [],
        ['Failure'],
        ['Failure', 'Success'],
    ]


@pytest.mark.parametrize(
    ('keys', 'omitted'),
    [(20, None), (21, 'has 1 more problem'), (50_000, 'has 49,980 more problems')],
)
@pytest.mark.parametrize('times', [1, 2])
def test_a_line_with_very_many_problems_lists_twenty_and_the_number_of_the_others(
    keys: int, omitted: str | None, times: int
) -> None:
    """Each key is unknown, or in the second case unknown keys of the arguments occur twice."""
    members = b','.join(b'"k%05d":1' % number for number in range(keys))
    line = (
        b'{"id":"c1","tool":"x",%b}' % members
        if times == 1
        else b'{"id":"c1","tool":"x","arguments":{%b,%b}}' % (members, members)
    )
    result = read_line(line)
    problems = error_of(result.call, SchemaViolations).problems
    assert result.id == 'c1'
    assert len(problems) == MAX_PROBLEMS + (omitted is not None)
    listed = [f'k{number:05}' for number in range(MAX_PROBLEMS)]
    for key, problem in zip(listed, problems, strict=False):
        assert key in problem.message + problem.pointer
    assert (problems[MAX_PROBLEMS].message if omitted else None) == omitted
