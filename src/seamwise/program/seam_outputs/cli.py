"""Output of a call at the CLI seam."""

from typing import assert_never

from msgspec.structs import replace

from seamwise._results.containers import Failure, Success
from seamwise.program.outputs import CallResult, Defect, retry_summary
from seamwise.seams import cli
from seamwise.seams.cli import tables
from seamwise.toolhost.guards.guarded_call import CallStats

TABLE = tables.TOOLS | tables.PARSING | tables.GUARDS


def output(result: CallResult) -> cli.Rendered:
    """Return the outcome of a call as text for a terminal."""
    match result.outcome:
        case Success(value):
            return cli.done(value)
        case Failure(error):
            return _add_retry_hint(TABLE(error), result.stats)
        case Defect(ref=ref):
            return cli.defect(ref)
        case _:
            assert_never(result.outcome)


def _add_retry_hint(rendered: cli.Rendered, stats: CallStats | None) -> cli.Rendered:
    """Append a hint line to CLI output, so that users know that retrying did not help."""
    summary = retry_summary(stats)
    if summary is None:
        return rendered
    return replace(rendered, text=f'{rendered.text}\nhint: {summary}.')
