"""How a run shows its calls: as lines of JSON for programs, or as blocks of text for people."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TextIO, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from seamwise._text.escaping import escape
from seamwise._text.jsonable import to_json
from seamwise.containers import Success
from seamwise.defects import report_defect
from seamwise.program.exits import Exit
from seamwise.program.outputs import OUTPUTS, CallResult, Defect, rendered
from seamwise.program.retry_summary import effort
from seamwise.seams.cli.report import encode_for_stream, layout


class Shown(Struct, frozen=True):
    """A piece of the output, and what it means for the exit code."""

    data: bytes
    code: Exit


Show: TypeAlias = Callable[[CallResult], Iterable[Shown]]
"""Makes the output of one call, piece by piece."""


class OutputLine(Struct, frozen=True, kw_only=True):
    """A line of the output; `output` is what the seam would write.

    Where calls run inside guards: how often the tool was tried, and the milliseconds that the call waited in all.
    """

    id: str | None
    line: int
    seam: str
    ok: bool
    attempts: int | UnsetType = UNSET
    waited_ms: int | UnsetType = UNSET
    output: object


def as_json(seams: Sequence[str]) -> Show:
    """Show each call as one line of JSON a seam."""

    def show(asked: CallResult) -> Iterator[Shown]:
        for seam in seams:
            yield _shown(asked, partial(_line, seam=seam))

    return show


def _line(asked: CallResult, *, seam: str) -> bytes:
    line = OutputLine(
        id=asked.line.id,
        line=asked.line.number,
        seam=seam,
        ok=type(asked.outcome) is Success,
        attempts=UNSET if asked.tries is None else asked.tries.attempts,
        waited_ms=UNSET if asked.tries is None else asked.tries.waited_ms,
        output=OUTPUTS[seam](asked),
    )
    return to_json(line) + b'\n'


def as_text(stream: TextIO) -> Show:
    """Show each call as a block of text, with colour and wrapped lines where `stream` is a terminal."""

    def show(asked: CallResult) -> Iterator[Shown]:
        yield _shown(asked, partial(_block, stream=stream))

    return show


def _block(asked: CallResult, *, stream: TextIO) -> bytes:
    told = rendered(asked)
    name = escape(
        ' '.join(filter(None, [asked.line.id or f'line {asked.line.number}', asked.tool]))
    )
    if type(asked.outcome) is Success:
        tried = effort(asked.tries)
        ok = 'ok' if tried is None else f'ok ({tried})'
        head, text = layout(f'{name}: {ok}', stream, first_style='bold green'), told.text
    else:
        head, text = (
            layout(f'{name}: exit code {told.exit_code}', stream),
            layout(told.text, stream, first_style='bold'),
        )
    return encode_for_stream('\n'.join(filter(None, [head, text])) + '\n\n', stream)


def _shown(asked: CallResult, write: Callable[[CallResult], bytes]) -> Shown:
    """Show a call; where the seam itself meets a bug, that is shown instead."""
    try:
        return Shown(write(asked), _code(asked))
    except Exception as raised:  # noqa: BLE001 -- whatever it is, it is reported, and the other calls still run
        return Shown(write(asked.broken_by(Defect(raised, report_defect(raised).ref))), Exit.DEFECT)


def _code(asked: CallResult) -> Exit:
    if isinstance(asked.outcome, Defect):
        return Exit.DEFECT
    return Exit.OK if type(asked.outcome) is Success else Exit.FAILED
