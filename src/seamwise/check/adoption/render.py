"""Text and JSON renderings of an adoption report."""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from seamwise._text.escaping import escape
from seamwise._text.phrases import pluralize
from seamwise.check.adoption.report import AdoptionCounts, AdoptionReport
from seamwise.check.adoption.steps import MigrationStep

_MAX_STEPS = 10
"""Number of steps in the text; the JSON contains all."""


class AdoptionShape(Struct, frozen=True):
    """JSON shape of a report. `percent` is null if no function can fail."""

    percent: int | None
    fallible: int
    counts: AdoptionCounts
    steps: tuple[MigrationStep, ...]
    files: int
    seconds: float


def render_adoption_text(report: AdoptionReport) -> str:
    """Return the counts and the first ten steps as text."""
    return '\n'.join([*_count_lines(report), *_step_lines(report.steps)])


def render_adoption_json(report: AdoptionReport) -> bytes:
    """Return the counts and all steps as one JSON object. Problems are not included."""
    shape = AdoptionShape(
        report.percent,
        report.counts.fallible,
        report.counts,
        report.steps,
        report.files,
        round(report.seconds, 3),
    )
    return msgspec.json.encode(shape)


def _count_lines(report: AdoptionReport) -> Iterator[str]:
    counts = report.counts
    if report.percent is None:
        checked = pluralize(counts.functions, 'function')
        yield f'No function raises an exception of its own or returns a Result ({checked} checked).'
    else:
        share = f'{counts.channels} of {counts.fallible}'
        yield f'{report.percent} % of the fallible functions declare tagged errors ({share}).'
    yield ''
    rows = (
        (counts.functions, 'functions'),
        (counts.channels, 'return a Result with a channel of tagged errors'),
        (counts.safe, 'use `@safe` or a similar decorator'),
        (counts.results, 'return another Result, such as one of exceptions or texts'),
        (counts.containers, 'return another container of `returns`'),
        (counts.raising, 'raise or propagate an exception that this code raises'),
        (counts.swallowing, 'handlers that swallow defects'),
    )
    yield from (f'{count:>6}  {text}' for count, text in rows)


def _step_lines(steps: Sequence[MigrationStep]) -> Iterator[str]:
    if not steps:
        return
    yield ''
    yield 'Next steps, the easiest first:'
    for step in steps[:_MAX_STEPS]:
        yield ''
        yield escape(f'{step.path}:{step.line}: `{step.name}` {step.why}')
        yield escape(f'    {step.how}')
    if len(steps) > _MAX_STEPS:
        yield ''
        yield f'… and {len(steps) - _MAX_STEPS} more; use --json to list all.'
