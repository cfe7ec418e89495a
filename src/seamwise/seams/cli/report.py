"""Writing of results to the standard streams of a command, with the exit code."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Literal, TextIO, TypeAlias, TypeVar, overload

from msgspec import Struct
from typing_extensions import TypeIs

from seamwise._results.containers import Result, Success, expect_result
from seamwise._runtime.source_excerpt import Source, Style, from_file, pointer
from seamwise.seams.adapter import translated
from seamwise.seams.cli.environment import (
    DEFAULT_WIDTH,
    STYLES,
    environment_locale,
    requested_style,
    terminal_width,
    wants_color,
)
from seamwise.seams.cli.json_line import failure_line, success_line
from seamwise.seams.cli.shape import Rendered
from seamwise.seams.cli.streams import exit_code_of, write, write_or_discard
from seamwise.seams.cli.values import done
from seamwise.seams.reporting.request_context import in_language

MAX_GROUPS = 100
"""Number of different failures that are shown in full; the others are only counted."""

MIXED_EXIT_CODE = 1
"""Exit code of failures whose exit codes differ."""


class RenderedGroup(Struct, frozen=True):
    """A rendered failure and its number of occurrences."""

    rendered: Rendered
    count: int

    @property
    def lines(self) -> list[str]:
        """The lines of the text; the first one ends with the count, if there are several."""
        head, *rest = self.rendered.text.split('\n')
        return [head if self.count == 1 else f'{head} ({self.count} times)', *rest]


def group_equal(rendered: Iterable[Rendered]) -> list[RenderedGroup]:
    """Group equal failures, in the order of their first occurrence.

    >>> groups = group_equal([Rendered('No.', 1), Rendered('Why?', 2), Rendered('No.', 1)])
    >>> [(group.lines, group.count) for group in groups]
    [(['No. (2 times)'], 2), (['Why?'], 1)]
    """
    return [RenderedGroup(text, count) for text, count in Counter(rendered).items()]


def common_exit_code(groups: Iterable[RenderedGroup]) -> int:
    """Return the exit code if all failures have the same one, else 1."""
    exit_codes = {group.rendered.exit_code for group in groups}
    return exit_codes.pop() if len(exit_codes) == 1 else MIXED_EXIT_CODE


E = TypeVar('E')

Form: TypeAlias = Style | Literal['json']
"""A style for a person, or one line of JSON for a program."""


def check_form(style: Form | None) -> Form | None:
    """Return a style; raise a ValueError for any other value."""
    if style not in (None, *STYLES, 'json'):
        names = ', '.join(map(repr, STYLES))
        raise ValueError(f"The style must be {names} or 'json', not {style!r}.")
    return style


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
    locale: str | None = None,
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
    locale: str | None = None,
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
    locale: str | None = None,
    source: Source = from_file,
) -> int:
    """Write a value to `stdout` or a failure to `stderr`, and return the exit code.

    If standard output cannot be written, the exit code of a success is 141 for a closed pipe and
    74 for other reasons, such as a full disk; `stderr` then has a line about it.

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
        locale: Language of messages and hints, such as `zh_CN`. Default: the language that
            LANGUAGE, LC_ALL, LC_MESSAGES and LANG select.
        source: Returns the text of a file. Default: reads the file.

    Raises:
        ValueError: There is no such style.

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
    style = check_form(style)
    if type(result) is Success:
        value: object = result.unwrap()
        text = success_line(value) if style == 'json' else done(value).text
        try:
            write(text, stdout)
        except OSError as error:
            return exit_code_of(error, stdout, stderr)
        return 0
    errors = errors_of(result.failure())
    with in_language(locale or environment_locale()):
        rendered = [translated(error, adapter, Rendered) for error in errors]
    groups = group_equal(rendered)
    exit_code = common_exit_code(groups)
    if style == 'json':
        try:
            write(failure_line(zip(errors, rendered, strict=True), exit_code), stdout)
        except OSError as error:
            exit_code_of(error, stdout, stderr)
        return exit_code
    # Python sets a standard stream to None if it is closed when the process starts.
    if _is_none(stderr):
        return exit_code
    text_style = style or requested_style()
    blocks = [
        _block(group, stderr, color=color, width=width, style=text_style, source=source)
        for group in groups[:MAX_GROUPS]
    ]
    if len(groups) > MAX_GROUPS:
        blocks.append(f'… ({len(groups) - MAX_GROUPS} more)')
    write_or_discard('\n\n'.join(blocks), stderr)
    return exit_code


def errors_of(failure: object) -> tuple[object, ...]:
    """Return the members of a tuple of errors, or any other error alone."""
    return failure if _is_tuple(failure) else (failure,)


def _is_none(stream: object) -> bool:
    return stream is None


def _is_tuple(failure: object) -> TypeIs[tuple[object, ...]]:
    return type(failure) is tuple


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
