"""Lines become calls or typed failures, strictly: none is lost, none ends the reading."""

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
from seamwise.catalog.parsing import SchemaViolations, UnreadableCall
from seamwise.catalog.problem import Problem
from seamwise.toolhost import reader
from seamwise.toolhost.calls import InputLine, ToolCall
from seamwise.toolhost.reader import (
    DEPTH_LIMIT,
    DIGITS_LIMIT,
    EXCERPT_LIMIT,
    ID_LIMIT,
    LINE_LIMIT,
    read_calls,
)
from tests.toolhost.helpers import error_of, value_of

GOOD = b'{"tool": "list_files"}'


def lines(data: bytes) -> list[InputLine]:
    return list(read_calls(BytesIO(data)))


def one(data: bytes) -> InputLine:
    (line,) = lines(data)
    return line


def unreadable(data: bytes) -> UnreadableCall:
    line = one(data)
    assert line.id is None
    return error_of(line.call, UnreadableCall)


def problems(line: InputLine) -> list[tuple[str, str]]:
    return [
        (problem.pointer, problem.message)
        for problem in error_of(line.call, SchemaViolations).problems
    ]


class TestACall:
    def test_is_read_with_all_that_it_says(self) -> None:
        line = one(
            '{"id": "c1", "tool": "read_file", "arguments": {"path": "数据.txt", "n": [1, 1.5, true, null]}}'.encode()
        )
        assert (line.number, line.id) == (1, 'c1')
        assert value_of(line.call) == ToolCall(
            'c1', 'read_file', {'path': '数据.txt', 'n': [1, 1.5, True, None]}, 1
        )

    def test_may_leave_out_its_id_and_its_arguments(self) -> None:
        assert value_of(one(b'\n\n' + GOOD).call) == ToolCall('line-3', 'list_files', {}, 3)

    @pytest.mark.parametrize(
        'call_id', ['x', ' ', '数', 'a\nb', '\x00', 'x' * ID_LIMIT, '😀' * ID_LIMIT]
    )
    def test_may_have_any_text_as_its_id(self, call_id: str) -> None:
        line = one(json.dumps({'tool': 'x', 'id': call_id}).encode())
        assert line.id == value_of(line.call).id == call_id

    @given(
        st.dictionaries(
            st.text(),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5
            ),
        )
    )
    def test_keeps_its_arguments_as_they_are(self, arguments: dict[str, object]) -> None:
        for text in (
            json.dumps({'tool': 'x', 'arguments': arguments}),
            json.dumps({'arguments': arguments, 'tool': 'x'}, indent=None),
        ):
            assert value_of(one(text.encode()).call).arguments == arguments


class TestLines:
    @pytest.mark.parametrize(
        ('data', 'numbers'),
        [
            (b'', []),
            (b'\n', []),
            (b'\xef\xbb\xbf', []),
            (b'\xef\xbb\xbf\n' + GOOD, [2]),
            (b'\xef\xbb\xbf' + GOOD, [1]),
            (GOOD, [1]),
            (GOOD + b'\n' + GOOD + b'\n', [1, 2]),
            (b'\n \t\r\n' + GOOD + b'\r\n\r\n' + GOOD, [3, 5]),
            (b'  ' + GOOD + b'  \n', [1]),
        ],
    )
    def test_that_are_blank_are_counted_and_skipped(self, data: bytes, numbers: list[int]) -> None:
        found = lines(data)
        assert [line.number for line in found] == numbers
        assert [value_of(line.call).line for line in found] == numbers

    def test_end_at_a_line_feed_only(self) -> None:
        """What other programs take for the end of a line may stand in a text."""
        text = 'a\u2028b\u2029c\x85d'
        assert (
            value_of(one(json.dumps({'tool': text}, ensure_ascii=False).encode()).call).tool == text
        )

    def test_a_mark_is_skipped_at_the_beginning_only(self) -> None:
        first, second = lines(GOOD + b'\n\xef\xbb\xbf' + GOOD)
        value_of(first.call)
        assert error_of(second.call, UnreadableCall).position == 0

    def test_are_given_as_they_come(self) -> None:
        taken: list[int] = []

        class Slow(BytesIO):
            @override
            def readline(self, size: int | None = -1, /) -> bytes:
                taken.append(1)
                return super().readline(size)

        found = read_calls(Slow(GOOD + b'\n' + GOOD + b'\n'))
        next(found)
        assert len(taken) == 1

    def test_a_stream_that_breaks_says_so(self) -> None:
        class Broken(BytesIO):
            @override
            def readline(self, size: int | None = -1, /) -> bytes:
                raise OSError(5, 'broken')

        with pytest.raises(OSError, match='broken'):
            next(read_calls(Broken()))


class TestWhatIsNoJson:
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
            (b'{"tool": "x"', 'it ends too early or inside a character', 12),
            (b'{"tool": 1  \r\n', 'it ends too early or inside a character', 10),
            (b'{"tool": "\\ud800"', 'it ends too early or inside a character', 17),
            (b'{"tool": "\\udc00"}', 'invalid utf-16 surrogate pair', 16),
            (b'{"tool": "x", "a": 1e999}', 'number out of range', 19),
            (b'{"1e999": "1e999", "a": [1, 1e999]}', 'number out of range', 28),
            (b'{"a": ' + b'9' * (DIGITS_LIMIT + 1) + b'}', 'integer value out of range', 6),
            (b'\x00', 'invalid character', 0),
            (b'// {}', 'invalid character', 0),
        ],
    )
    def test_is_unreadable_and_says_where(self, data: bytes, problem: str, position: int) -> None:
        error = unreadable(data)
        assert (error.format, error.problem, error.position) == ('json', problem, position)

    @pytest.mark.parametrize(
        ('data', 'byte', 'position'),
        [(b'\xff', 'ff', 0), (b'{"tool": "caf\xe9"}', 'e9', 13), (b'\xed\xa0\x80', 'ed', 0)],
    )
    def test_bytes_that_are_not_utf_8_are_unreadable(
        self, data: bytes, byte: str, position: int
    ) -> None:
        error = unreadable(data)
        assert (error.problem, error.position) == (f'byte 0x{byte} is not UTF-8', position)
        assert '\ufffd' in error.excerpt

    @pytest.mark.parametrize(
        'piece', [b'[', b'{"a":', b'{"tool": "x", "arguments": {"a": [', b'[{}, ']
    )
    def test_deep_nesting_is_unreadable_in_no_time(self, piece: bytes) -> None:
        error = unreadable(piece * 100_000)
        assert error.problem == f'it is nested more than {DEPTH_LIMIT} levels deep'
        assert 0 < error.position <= DEPTH_LIMIT * len(piece)

    def test_nesting_up_to_the_limit_is_read(self) -> None:
        inner = DEPTH_LIMIT - 2
        deep = b'{"tool": "x", "arguments": {"a": ' + b'[' * inner + b']' * inner + b'}}'
        value_of(one(deep).call)
        assert unreadable(deep.replace(b'[]', b'[[]]')).position == deep.index(b'[') + inner

    def test_brackets_in_texts_nest_nothing(self) -> None:
        text = '[' * 1_000 + '\\"{' + '"'
        assert (
            value_of(
                one(json.dumps({'tool': text, 'arguments': {'a': [[]] * 300}}).encode()).call
            ).tool
            == text
        )

    def test_an_excerpt_is_short_and_holds_no_secret(self) -> None:
        error = unreadable(b'{"password": "hunter2-and-more", "text": "' + b'x' * 10_000)
        assert 'hunter2' not in error.excerpt
        assert len(error.excerpt) == EXCERPT_LIMIT
        key = b'{"key": "-----BEGIN RSA PRIVATE KEY-----\\nMIIEow' + b'A' * 20_000
        assert 'MIIEow' not in unreadable(key).excerpt

    def test_what_the_text_seems_to_tell_stands_in_the_error_only(self) -> None:
        error = unreadable(b'{"id": "c1", "tool": "read_file", ')
        assert (error.id, error.tool) == ('c1', 'read_file')
        error = unreadable(b'{"id": 7, "tool": "' + b'x' * 500)
        assert (error.id, error.tool) == (None, None)

    @given(st.binary(max_size=60))
    def test_bytes_of_any_kind_give_a_line_or_nothing(self, data: bytes) -> None:
        count = sum(
            bool(text.strip(b' \t\r\n')) for text in data.removeprefix(b'\xef\xbb\xbf').split(b'\n')
        )
        assert len(lines(data)) == count
        assert type(lines(data + b'\n' + GOOD)[-1].call) is Success


class TestALineThatIsTooLong:
    @pytest.fixture(autouse=True)
    def limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reader, 'LINE_LIMIT', 64)

    @pytest.mark.parametrize('mark', [b'', b'\xef\xbb\xbf'])
    @pytest.mark.parametrize('length', [65, 66, 67, 68, 127, 128, 129, 1_000])
    @pytest.mark.parametrize('end', [b'', b'\n'])
    def test_is_unreadable_whatever_it_begins_with(
        self, mark: bytes, length: int, end: bytes
    ) -> None:
        data = mark + GOOD.ljust(length - len(mark)) + end
        error = unreadable(data)
        assert (error.problem, error.position) == ('the line has more than 64 bytes', 64)
        if end:
            assert [line.number for line in lines(data + GOOD)] == [1, 2]

    def test_is_read_up_to_the_limit(self) -> None:
        for end in (b'', b'\n'):
            value_of(one(GOOD.ljust(64) + end).call)

    def test_is_not_blank_since_nobody_has_seen_all_of_it(self) -> None:
        unreadable(b' ' * 100 + GOOD)


def test_a_line_of_fifty_megabytes_takes_little_memory() -> None:
    class Huge(BytesIO):
        """One line of 50 MB, of which nobody may take more than the limit at once."""

        left = 50_000_000

        @override
        def readline(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            assert 0 < size <= LINE_LIMIT + 1
            taken = min(size, self.left)
            self.left -= taken
            return b'a' * taken if taken else b''

    (line,) = read_calls(Huge())
    assert error_of(line.call, UnreadableCall).position == LINE_LIMIT


class TestJsonOfAnotherShape:
    @pytest.mark.parametrize(
        ('data', 'line_id', 'found'),
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
    def test_says_everything_that_is_wrong(
        self, data: bytes, line_id: str | None, found: list[tuple[str, str]]
    ) -> None:
        line = one(data)
        assert (line.id, problems(line)) == (line_id, found)

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
    def test_a_key_that_stands_twice_means_nothing_certain(
        self, data: bytes, line_id: str | None, key: str
    ) -> None:
        line = one(data)
        assert line.id == line_id
        assert error_of(line.call, SchemaViolations).problems[0] == Problem(
            '', f'has the key {key!r} twice in one object'
        )


class TestARepeatedId:
    def test_is_a_bad_line_that_keeps_its_id(self) -> None:
        first, second, third = lines(b'{"id": "c1", "tool": "x"}\n' * 3)
        value_of(first.call)
        for line in (second, third):
            assert line.id == 'c1'
            assert problems(line) == [('/id', "must be unique: line 1 uses 'c1'")]

    def test_counts_on_bad_lines_too(self) -> None:
        _, second = lines(b'{"id": "c1", "tool": 7}\n{"id": "c1", "tool": "x"}\n')
        assert problems(second) == [('/id', "must be unique: line 1 uses 'c1'")]

    def test_is_seen_between_given_ids_and_others(self) -> None:
        _, second = lines(b'{"id": "line-2", "tool": "x"}\n' + GOOD)
        assert second.id is None
        assert problems(second) == [('/id', "must be unique: line 1 uses 'line-2'")]
        _, second = lines(GOOD + b'\n{"id": "line-1", "tool": "x"}\n')
        assert second.id == 'line-1'
        assert problems(second) == [('/id', "must be unique: line 1 uses 'line-1'")]

    def test_is_not_made_of_what_only_seems_to_be_an_id(self) -> None:
        broken, second, missing, fourth = lines(
            b'{"id": "c1", "tool": \n{"id": "c1", "tool": "x"}\n[]\n{"id": "line-3", "tool": "x"}'
        )
        for line in (broken, missing):
            assert line.id is None
        for line in (second, fourth):
            value_of(line.call)


def files(folder: Path) -> Iterator[BinaryIO]:
    for data in (b'', b'{', b'\xff\n' + GOOD):
        (folder / 'calls').write_bytes(data)
        with (folder / 'calls').open('rb') as stream:
            yield stream


def test_files_are_read_as_any_stream_is(folder: Path) -> None:
    assert [
        [type(line.call).__name__ for line in read_calls(stream)] for stream in files(folder)
    ] == [
        [],
        ['Failure'],
        ['Failure', 'Success'],
    ]
