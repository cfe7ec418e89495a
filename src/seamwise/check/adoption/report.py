"""`adoption(paths)`: how far a code base is, and what would change first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from time import perf_counter

from msgspec import Struct

from seamwise.check.adoption.exception_paths import Ways
from seamwise.check.adoption.exceptions import Unit, units
from seamwise.check.adoption.function_status import Standing, standing
from seamwise.check.adoption.steps import Step, raised, steps, swallowed
from seamwise.check.analysis import SourceProblem, analyse
from seamwise.check.rules.unchecked_unwrap import is_test
from seamwise.check.typed_ast.program import Program


class Counts(Struct, frozen=True):
    """Functions and methods, each counted once; tests are left out."""

    functions: int
    """All of them."""
    channels: int
    """Give a Result whose channel names tagged errors and nothing else, or is empty."""
    safe: int
    """Stand under `@safe`, or another decorator of `returns` that takes in any exception."""
    results: int
    """Give another Result: of `str`, of exceptions, of whatever is no tagged error."""
    containers: int
    """Give another container of `returns`: Maybe, IOResult, a future."""
    raising: int
    """Give none of these, and let out an exception that this code raises, in themselves or in what they call."""
    swallowing: int
    """Handlers, not functions, that swallow defects: what SW103 finds."""

    @property
    def fallible(self) -> int:
        """The functions that can fail, as far as this code says."""
        return self.channels + self.safe + self.results + self.containers + self.raising


class AdoptionReport(Struct, frozen=True):
    """How far a code base is, and what would change first."""

    counts: Counts
    steps: tuple[Step, ...]
    problems: tuple[SourceProblem, ...]
    files: int
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether all that was asked for has been read."""
        return not any(one.is_unread for one in self.problems)

    @property
    def percent(self) -> int | None:
        """The share of channels among the functions that can fail, rounded down; None where none can."""
        fallible = self.counts.fallible
        return self.counts.channels * 100 // fallible if fallible else None


def adoption(paths: Sequence[str]) -> AdoptionReport:
    """Read files and folders, and say how far they are; paths in the report are relative to the current directory.

    What cannot be read is in `problems`, and the rest is counted all the same.
    """
    began = perf_counter()
    analysis = analyse(paths)
    program = Program([one for one in analysis.program.modules if not is_test(one.path)])
    found = [unit for module in program.modules for unit in units(module)]
    standings = {
        one: given
        for one in found
        if one.node is not None and (given := standing(one.node, one.module)) is not None
    }
    ways = Ways(found, wrapped={one for one, given in standings.items() if given.is_wrapped})
    counts = _counts(ways, standings, swallowing=len(list(swallowed(program))))
    return AdoptionReport(
        counts,
        tuple(steps(program, ways, standings)),
        analysis.problems,
        len(program.modules),
        perf_counter() - began,
    )


def _counts(ways: Ways, standings: Mapping[Unit, Standing], *, swallowing: int) -> Counts:
    given = Counter(one.given for one in standings.values())
    letting_out = {
        unit for kind, raisers in raised(ways).items() for unit in ways.way(raisers, kind).passes
    }
    raising = [
        one
        for one in ways.functions
        if one in letting_out and one not in standings and not one.is_called_by_python
    ]
    return Counts(
        len(ways.functions),
        given['channel'],
        given['safe'],
        given['result'],
        given['container'],
        len(raising),
        swallowing,
    )
