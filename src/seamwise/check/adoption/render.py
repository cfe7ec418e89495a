"""An adoption report as text for a terminal, and as JSON for programs."""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from seamwise._text.escaping import escape
from seamwise.check.adoption.report import AdoptionReport, Counts
from seamwise.check.adoption.steps import Step

SHOWN = 10
"""How many steps a terminal shows; JSON has all."""


class AdoptionShape(Struct, frozen=True):
    """A report as programs read it; `seconds` is how long it took, `percent` null where no function can fail."""

    percent: int | None
    fallible: int
    counts: Counts
    steps: tuple[Step, ...]
    files: int
    seconds: float


def as_text(report: AdoptionReport) -> str:
    """Say how far a code base is, and show the first steps."""
    return '\n'.join([*_counted(report), *_first(report.steps)])


def as_json(report: AdoptionReport) -> bytes:
    """Encode counts and all steps as one JSON object; what could not be read is told on standard error."""
    shape = AdoptionShape(
        report.percent,
        report.counts.fallible,
        report.counts,
        report.steps,
        report.files,
        round(report.seconds, 3),
    )
    return msgspec.json.encode(shape)


def _counted(report: AdoptionReport) -> Iterator[str]:
    counts = report.counts
    if report.percent is None:
        yield f'No function of {counts.functions} raises an exception of its own or gives a Result.'
    else:
        yield f'{report.percent} %: {counts.channels} of {counts.fallible} functions that can fail name their errors.'
    yield ''
    rows = (
        (counts.functions, 'functions'),
        (counts.channels, 'give a Result with a channel of tagged errors'),
        (counts.safe, 'stand under `@safe` or its like'),
        (counts.results, 'give another Result: of exceptions, texts, anything'),
        (counts.containers, 'give another container of `returns`'),
        (counts.raising, 'let out an exception that this code raises'),
        (counts.swallowing, 'handlers swallow defects'),
    )
    yield from (f'{count:>6}  {said}' for count, said in rows)


def _first(steps: tuple[Step, ...]) -> Iterator[str]:
    if not steps:
        return
    yield ''
    yield 'What would change first:'
    for one in steps[:SHOWN]:
        yield ''
        yield escape(f'{one.path}:{one.line}: `{one.name}` {one.why}')
        yield escape(f'    {one.how}')
    if len(steps) > SHOWN:
        yield ''
        yield f'… and {len(steps) - SHOWN} more; --json has all.'
