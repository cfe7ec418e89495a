"""Writing of results to the standard streams of a command, with the exit code."""

from collections.abc import Callable
from typing import Any, Literal, TextIO, TypeAlias, TypeVar, overload

from typing_extensions import TypeIs

from seamwise._text.jsonable import to_json
from seamwise._text.source_excerpt import Source, Style, from_file, pointer
from seamwise.containers import Result, Success, expect_result
from seamwise.seams.cli.groups import MAX_GROUPS, RenderedGroup, common_exit_code, group_equal
from seamwise.seams.cli.shape import Rendered
from seamwise.seams.cli.style import (
    DEFAULT_WIDTH,
    requested_style,
    terminal_width,
    wants_color,
)
from seamwise.seams.cli.values import done

E = TypeVar('E')

Form: TypeAlias = Style | Literal['json']
"""A style for a person, or one line of JSON for a program."""


@overload
def report(
    result: Result[object, tuple[E, ...]],
    adapter: Callable[[E], Rendered],
    *,
    stdout: TextIO,
    stderr: TextIO,
    color: bool | None = None,
    width: int | None = None,
    style: Form | None = None,
    source: Source = from_file,
) -> int: ...


@overload
def report(
    result: Result[object, E],
    adapter: Callable[[E], Rendered],
    *,
    stdout: TextIO,
    stderr: TextIO,
    color: bool | None = None,
    width: int | None = None,
    style: Form | None = None,
    source: Source = from_file,
) -> int: ...


def report(  # noqa: PLR0913 -- all are keywords, and most calls pass only the streams
    result: Result[object, Any],
    adapter: Callable[[Any], Rendered],
    *,
    stdout: TextIO,
    stderr: TextIO,
    color: bool | None = None,
    width: int | None = None,
    style: Form | None = None,
    source: Source = from_file,
) -> int:
    """Write a value to `stdout` or a failure to `stderr`, and return the exit code.

    An empty text writes nothing. For several failures (a tuple, as `accumulate` returns), equal
    ones are written once with their count. Their exit code is the common one, else 1. An error
    with a place in a file is followed by that line, redacted, and a caret.

    Args:
        result: The result of the command.
        adapter: Table from errors to rendered texts.
        stdout: Stream for values, and for all results in the style `json`.
        stderr: Stream for failures.
        color: Whether to use colours. Default: on a terminal, unless NO_COLOR is set. Needs rich.
        width: Columns to wrap failures at. Default: the terminal's width; no wrapping elsewhere.
            Needs rich.
        style: `plain` writes no escape sequences. `screen-reader` also breaks no lines and draws
            no caret. `json` writes one line to `stdout` for any result, with the keys `ok`,
            `exit_code`, and `value` or `errors`. Default: SEAMWISE_STYLE in the environment, else
            `auto`.
        source: Returns the text of a file. Default: reads the file.

    >>> import sys
    >>> from seamwise import Failure
    >>> from seamwise.catalog.tools import FileAlreadyExists
    >>> from seamwise.seams.cli.tables import TOOLS
    >>> exists = Failure(FileAlreadyExists('write_file', 'a.txt'))
    >>> report(exists, TOOLS, stdout=sys.stdout, stderr=sys.stdout)
    'a.txt' already exists.
    hint: allow overwriting it, or choose another path.
    73
    """
    result = expect_result(result, 'report')
    if type(result) is Success:
        value: object = result.unwrap()
        text = _json(ok=True, exit_code=0, value=value) if style == 'json' else done(value).text
        _write(text, stdout)
        return 0
    groups = group_equal(adapter(error) for error in _errors(result.failure()))
    exit_code = common_exit_code(groups)
    if style == 'json':
        errors = [_group_fields(group) for group in groups]
        _write(_json(ok=False, exit_code=exit_code, errors=errors), stdout)
        return exit_code
    text_style = style or requested_style()
    blocks = [
        _block(group, stderr, color=color, width=width, style=text_style, source=source)
        for group in groups[:MAX_GROUPS]
    ]
    if len(groups) > MAX_GROUPS:
        blocks.append(f'… ({len(groups) - MAX_GROUPS} more)')
    _write('\n\n'.join(blocks), stderr)
    return exit_code


def _errors(failure: object) -> tuple[object, ...]:
    return failure if _is_tuple(failure) else (failure,)


def _is_tuple(failure: object) -> TypeIs[tuple[object, ...]]:
    return type(failure) is tuple


def _json(**fields: object) -> str:
    return to_json(fields).decode()


def _group_fields(group: RenderedGroup) -> dict[str, object]:
    rendered = group.rendered
    fields: dict[str, object] = {
        'text': rendered.text,
        'exit_code': rendered.exit_code,
        'count': group.count,
    }
    return {**fields, 'place': rendered.place} if rendered.place else fields


def _block(
    group: RenderedGroup,
    stream: TextIO,
    *,
    color: bool | None,
    width: int | None,
    style: Style,
    source: Source,
) -> str:
    lines = group.lines
    if place := group.rendered.place:
        columns = terminal_width(stream, style) if width is None else width
        # After the message and the line `at path:line:column`.
        lines[2:2] = pointer(place, source(place) or '', width=columns, style=style)
    return layout('\n'.join(lines), stream, color=color, width=width, style=style)


def _write(text: str, stream: TextIO) -> None:
    if text:
        stream.write(encode_for_stream(text + '\n', stream).decode(stream.encoding or 'utf-8'))


def layout(
    text: str,
    stream: TextIO,
    *,
    color: bool | None = None,
    width: int | None = None,
    style: Style | None = None,
    first_style: str = 'bold red',
) -> str:
    """Return a rendered text wrapped and coloured for a terminal, unchanged for other streams.

    Args:
        text: The rendered text.
        stream: The stream that it will be written to.
        color: Whether to use colours. Default: if the stream is a terminal that supports them.
        width: Columns to wrap at. Default: the terminal's width.
        style: How to write. Default: SEAMWISE_STYLE in the environment, else `auto`.
        first_style: Rich style of the first line, if colours are used.
    """
    columns = terminal_width(stream, style) if width is None else width
    is_colored = (
        wants_color(stream, style)
        if color is None
        else color and (style or requested_style()) == 'auto'
    )
    if columns is None and not is_colored:
        return text
    # Imported late: rich is an optional dependency, needed on terminals only.
    from seamwise.seams.cli.layout import format_for_terminal  # noqa: PLC0415

    return format_for_terminal(
        text, width=columns or DEFAULT_WIDTH, color=is_colored, first_style=first_style
    )


def encode_for_stream(text: str, stream: TextIO) -> bytes:
    """Encode a text for a stream; characters that its encoding lacks are escaped."""
    return text.encode(stream.encoding or 'utf-8', 'backslashreplace')
