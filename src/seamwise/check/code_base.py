"""`read_code_base(paths)`: the facts of all files, read now or kept from an earlier run."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from mypy.build import BuildResult

from seamwise.check.analysis import modules
from seamwise.check.cache import FactsCache, locked_folder
from seamwise.check.extract import facts_of
from seamwise.check.facts import FileFacts
from seamwise.check.mypy_build import gc_disabled, missing_imports, run_mypy
from seamwise.check.mypy_sources import (
    SourceGroup,
    SourceProblem,
    mypy_options,
    source_groups,
    too_deep_problem,
)
from seamwise.check.typed_ast.channels import clear_caches


class CodeBase(Struct, frozen=True):
    """The facts of all files that were asked for, and what is missing of them."""

    files: tuple[FileFacts, ...]
    problems: tuple[SourceProblem, ...]


def read_code_base(paths: Sequence[str], *, cache: Path | None = None) -> CodeBase:
    """Read files and folders with mypy, as the configuration of mypy in the current directory says.

    In the folder `cache` it keeps what it knows, and reads only what has changed; without one, or where that cannot be
    written or is in use, it reads everything. Whatever cannot be read becomes a Problem, never an exception.
    """
    problems: list[SourceProblem] = []
    files: list[FileFacts] = []
    options = mypy_options(problems)
    with locked_folder(cache) as folder:
        for number, group in enumerate(
            source_groups(paths, options, problems) if options is not None else ()
        ):
            kept = FactsCache(folder / f'build-{number}') if folder is not None else None
            found = _through(kept, group, problems) if kept is not None else None
            files += _read(group, problems) if found is None else found
    return CodeBase(tuple(files), tuple(problems))


def _read(group: SourceGroup, problems: list[SourceProblem]) -> list[FileFacts]:
    result = run_mypy(group, problems)
    if result is None:
        return []
    problems += missing_imports(result.errors)
    return list(_facts([one.module for one in group.sources], result, problems).values())


def _through(
    cache: FactsCache, group: SourceGroup, problems: list[SourceProblem]
) -> list[FileFacts] | None:
    """Read what has changed, and take the rest from the cache; None where the cache is of no use."""
    try:
        # Twice, where facts are missing of a module that mypy has: it was read before only because others import it.
        for _ in range(2):
            result = run_mypy(group, problems, cache.used_by)
            if result is None:
                return []
            found = _found(cache, group, result, problems)
            if found is not None:
                problems += missing_imports(result.errors)
                return found
    except sqlite3.Error:
        cache.drop()
    return None


def _found(
    cache: FactsCache, group: SourceGroup, result: BuildResult, problems: list[SourceProblem]
) -> list[FileFacts] | None:
    """Give the facts of a build; None where some are missing, which the next build will bring."""
    names = [one.module for one in group.sources if one.module in result.graph]
    kept = {
        name: cache.facts(result.graph[name], result)
        for name in names
        if name not in result.manager.rechecked_modules
    }
    unknown = [result.graph[name] for name, facts in kept.items() if facts is None]
    if unknown:
        cache.forget(unknown, result)
        return None
    fresh = _facts([name for name in names if name not in kept], result, problems)
    cache.keep(fresh, result)
    return [facts for name in names if (facts := fresh.get(name) or kept.get(name)) is not None]


def _facts(
    names: Sequence[str], result: BuildResult, problems: list[SourceProblem]
) -> dict[str, FileFacts]:
    """Read the modules of these names."""
    found: dict[str, FileFacts] = {}
    with gc_disabled():
        for module in modules(result, names, problems):
            try:
                found[module.name] = facts_of(module)
            except RecursionError:
                problems.append(too_deep_problem(str(module.path)))
    clear_caches()
    return found
