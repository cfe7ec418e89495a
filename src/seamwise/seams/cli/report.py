"""A result on the standard streams of a command: the value on one, the failure on the other, and the exit code."""

from collections.abc import Callable
from typing import Any, Literal, TextIO, TypeAlias, TypeVar, overload

from typing_extensions import TypeIs

from seamwise._text.jsonable import to_json
from seamwise._text.source_excerpt import Source, from_file, pointer
from seamwise.containers import Result, Success
from seamwise.seams.cli.groups import MOST_GROUPS, Group, common_code, grouped
from seamwise.seams.cli.shape import Rendered
from seamwise.seams.cli.style import (
    USUAL_WIDTH,
    Style,
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


def report(  # noqa: PLR0913 -- each by its keyword, and most calls name the streams only
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
    """Write a value to `stdout` or a failure to `stderr`, and give the exit code; an empty text writes nothing.

    Of several failures (a tuple, as `accumulate` gives) those that look alike are told once, with their number, and the
    exit code is the one that all have, else 1. Under an error with a place in a file stand the line, redacted, and a caret:
    `source` gives the text of the file, by default as it is now.

    On a terminal a failure is wrapped at `width` columns (default the terminal's) and, unless NO_COLOR is set, coloured;
    elsewhere it is plain. `color` and `width` overrule that; rich is needed where either takes effect. `style` `plain`
    writes no escape sequence; `screen-reader` also breaks no line and draws no caret; the environment asks for them by
    SEAMWISE_STYLE. `json` writes one line to `stdout`, whatever the result: `ok`, `exit_code`, and `value` or `errors`.

    >>> import io, sys
    >>> from seamwise import Failure
    >>> from seamwise.catalog.tools import FileAlreadyExists
    >>> from seamwise.seams.cli.tables import TOOLS
    >>> report(Failure(FileAlreadyExists('write_file', 'a.txt')), TOOLS, stdout=sys.stdout, stderr=sys.stdout)
    'a.txt' already exists.
    hint: say that it may be overwritten, or take another path.
    73
    """
    if type(result) is Success:
        value: object = result.unwrap()
        text = done(value).text if style != 'json' else _json(ok=True, exit_code=0, value=value)
        _write(text, stdout)
        return 0
    groups = grouped(adapter(one) for one in _errors(result.failure()))
    code = common_code(groups)
    if style == 'json':
        _write(_json(ok=False, exit_code=code, errors=[_as_json(one) for one in groups]), stdout)
        return code
    shown = style or requested_style()
    blocks = [
        _block(one, stderr, color=color, width=width, style=shown, source=source)
        for one in groups[:MOST_GROUPS]
    ]
    more = [f'… ({len(groups) - MOST_GROUPS} more)'] if len(groups) > MOST_GROUPS else []
    _write('\n\n'.join([*blocks, *more]), stderr)
    return code


def _errors(failure: object) -> tuple[object, ...]:
    return failure if _are_several(failure) else (failure,)


def _are_several(failure: object) -> TypeIs[tuple[object, ...]]:
    return type(failure) is tuple


def _json(**told: object) -> str:
    return to_json(told).decode()


def _as_json(group: Group) -> dict[str, object]:
    one = group.rendered
    place = {'place': one.place} if one.place else {}
    return {'text': one.text, 'exit_code': one.exit_code, 'count': group.count, **place}


def _block(
    group: Group,
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
        lines[2:2] = pointer(place, source(place) or '', width=columns, style=style)
    return laid_out('\n'.join(lines), stream, color=color, width=width, style=style)


def _write(text: str, stream: TextIO) -> None:
    if text:
        stream.write(encode_for_stream(text + '\n', stream).decode(stream.encoding or 'utf-8'))


def laid_out(
    text: str,
    stream: TextIO,
    *,
    color: bool | None = None,
    width: int | None = None,
    style: Style | None = None,
    first: str = 'bold red',
) -> str:
    """Give a rendered text as it suits a stream: wrapped and coloured for a terminal, as it is for anything else.

    `first` is the style of the first line, where there is colour.
    """
    columns = terminal_width(stream, style) if width is None else width
    colored = (
        wants_color(stream, style)
        if color is None
        else color and (style or requested_style()) == 'auto'
    )
    if columns is None and not colored:
        return text
    from seamwise.seams.cli.layout import painted  # noqa: PLC0415 -- rich is needed on terminals only

    return painted(text, width=columns or USUAL_WIDTH, color=colored, first=first)


def encode_for_stream(text: str, stream: TextIO) -> bytes:
    """Encode a text for a stream: what its encoding cannot say is escaped."""
    return text.encode(stream.encoding or 'utf-8', 'backslashreplace')
