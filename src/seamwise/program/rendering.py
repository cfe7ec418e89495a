"""Rendering of calls by `seamwise run`: JSON lines for programs, blocks of text for people."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TextIO, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from seamwise._defects.defects import report_defect
from seamwise._results.containers import Success
from seamwise._text.escaping import escape
from seamwise._text.jsonable import to_json
from seamwise.program.console import Exit
from seamwise.program.outputs import OUTPUTS, CallResult, Defect, retry_summary
from seamwise.seams.cli.report import layout
from seamwise.seams.cli.streams import encode_for_stream


class OutputChunk(Struct, frozen=True):
    """A part of the output of a call, and the exit code that it implies."""

    data: bytes
    code: Exit


Renderer: TypeAlias = Callable[[CallResult], Iterable[OutputChunk]]
"""Renders one call, chunk by chunk."""


class OutputLine(Struct, frozen=True, kw_only=True):
    """One JSON line of the output.

    `output` is what the seam would write. With guards, `attempts` is the number of times that the
    tool ran, and `waited_ms` the total wait of the call in milliseconds.
    """

    id: str | int | None
    line: int
    seam: str
    ok: bool
    attempts: int | UnsetType = UNSET
    waited_ms: int | UnsetType = UNSET
    output: object


def json_renderer(seams: Sequence[str]) -> Renderer:
    """Return a renderer that writes one JSON line per seam."""

    def render(result: CallResult) -> Iterator[OutputChunk]:
        for seam in seams:
            yield _render_safely(result, partial(_json_line, seam=seam))

    return render


def _json_line(result: CallResult, *, seam: str) -> bytes:
    line = OutputLine(
        id=result.line.id,
        line=result.line.number,
        seam=seam,
        ok=type(result.outcome) is Success,
        attempts=UNSET if result.stats is None else result.stats.attempts,
        waited_ms=UNSET if result.stats is None else result.stats.waited_ms,
        output=OUTPUTS[seam](result),
    )
    return to_json(line) + b'\n'


def text_renderer(stream: TextIO) -> Renderer:
    """Return a renderer that writes one block of text, wrapped and coloured on a terminal."""

    def render(result: CallResult) -> Iterator[OutputChunk]:
        yield _render_safely(result, partial(_text_block, stream=stream))

    return render


def _text_block(result: CallResult, *, stream: TextIO) -> bytes:
    # Imported here: JSON of another seam does not need it.
    from seamwise.program.seam_outputs import cli  # noqa: PLC0415

    rendered = cli.output(result)
    call_id = f'line {result.line.number}' if result.line.id is None else str(result.line.id)
    call_name = ' '.join(filter(None, [call_id, result.tool]))
    name = escape(call_name)
    if type(result.outcome) is Success:
        summary = retry_summary(result.stats)
        status = 'ok' if summary is None else f'ok ({summary})'
        heading = layout(f'{name}: {status}', stream, first_style='bold green')
        text = rendered.text
    else:
        heading = layout(f'{name}: exit code {rendered.exit_code}', stream)
        text = layout(rendered.text, stream, first_style='bold')
    return encode_for_stream('\n'.join(filter(None, [heading, text])) + '\n\n', stream)


def _render_safely(result: CallResult, render: Callable[[CallResult], bytes]) -> OutputChunk:
    """Render a call. If the seam itself raises, render that defect instead."""
    try:
        return OutputChunk(render(result), _exit_code(result))
    except Exception as error:  # noqa: BLE001 -- reported as a defect; the other calls still run
        defect = Defect(error, report_defect(error).ref)
        return OutputChunk(render(result.with_defect(defect)), Exit.DEFECT)


def _exit_code(result: CallResult) -> Exit:
    if isinstance(result.outcome, Defect):
        return Exit.DEFECT
    return Exit.OK if type(result.outcome) is Success else Exit.FAILED
