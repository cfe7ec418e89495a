"""Adoption report: counts of functions by their status, and the migration steps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from time import perf_counter

from msgspec import Struct

from seamwise.check._mypy.sources import SourceProblem
from seamwise.check.adoption.exception_paths import CallGraph
from seamwise.check.adoption.function_status import FunctionStatus, function_status
from seamwise.check.adoption.steps import (
    MigrationStep,
    broad_handler_lines,
    migration_steps,
    raisers_by_exception,
)
from seamwise.check.collection.analysis import analyse
from seamwise.check.inference.exception_flow.sites import CodeUnit, code_units
from seamwise.check.rules.unchecked_unwrap import is_test
from seamwise.check.typed_ast.program import Program


class AdoptionCounts(Struct, frozen=True):
    """Numbers of functions and methods without tests. Each function counts once."""

    functions: int
    """All functions."""
    channels: int
    """Functions that return a Result with only tagged errors, or none, in its channel."""
    safe: int
    """Functions with `@safe`, or another decorator of `returns` that converts all exceptions."""
    results: int
    """Functions that return another Result: of `str`, of exceptions, of any untagged error."""
    containers: int
    """Functions that return another container of `returns`: Maybe, IOResult, a future."""
    raising: int
    """Other functions that raise or propagate an exception raised in this code."""
    swallowing: int
    """Handlers, not functions, that swallow defects: the findings of SW103."""

    @property
    def fallible(self) -> int:
        """Number of functions that can fail, as far as this code shows."""
        return self.channels + self.safe + self.results + self.containers + self.raising


class AdoptionReport(Struct, frozen=True):
    """Progress of a code base, and its next migration steps."""

    counts: AdoptionCounts
    steps: tuple[MigrationStep, ...]
    problems: tuple[SourceProblem, ...]
    files: int
    seconds: float
    """Duration of the analysis."""

    @property
    def is_complete(self) -> bool:
        """Whether all requested files were read."""
        return not any(problem.is_unread for problem in self.problems)

    @property
    def percent(self) -> int | None:
        """Share of fallible functions with a tagged channel, rounded down; None without any."""
        fallible = self.counts.fallible
        return self.counts.channels * 100 // fallible if fallible else None


def adoption_report(paths: Sequence[str], *, python_executable: str = '') -> AdoptionReport:
    """Analyse files and folders. Paths in the report are relative to the current directory.

    Files that cannot be read are listed in `problems`; the others are counted.
    """
    started_at = perf_counter()
    analysis = analyse(paths, python_executable=python_executable)
    program = Program([module for module in analysis.program.modules if not is_test(module.path)])
    units = [unit for module in program.modules for unit in code_units(module)]
    statuses = {
        unit: status
        for unit in units
        if unit.node is not None and (status := function_status(unit.node, unit.module)) is not None
    }
    decorated = {unit for unit, status in statuses.items() if status.is_decorated}
    graph = CallGraph(units, decorated=decorated)
    counts = _counts(graph, statuses, swallowing=len(list(broad_handler_lines(program))))
    return AdoptionReport(
        counts,
        tuple(migration_steps(program, graph, statuses)),
        analysis.problems,
        len(program.modules),
        perf_counter() - started_at,
    )


def _counts(
    graph: CallGraph, statuses: Mapping[CodeUnit, FunctionStatus], *, swallowing: int
) -> AdoptionCounts:
    kinds = Counter(status.kind for status in statuses.values())
    propagators = {
        unit
        for exception, raisers in raisers_by_exception(graph).items()
        for unit in graph.path(raisers, exception).propagators
    }
    raising = [
        unit
        for unit in graph.functions
        if unit in propagators and unit not in statuses and not unit.is_special_method
    ]
    return AdoptionCounts(
        len(graph.functions),
        kinds['channel'],
        kinds['safe'],
        kinds['result'],
        kinds['container'],
        len(raising),
        swallowing,
    )
