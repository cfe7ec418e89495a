"""Facts of all files of a code base, collected now or taken from the cache."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from seamwise._text.phrases import join_limited, pluralize
from seamwise.check._mypy.build import (
    CAN_CACHE,
    Build,
    TypeErrorPlace,
    gc_disabled,
    import_problems,
    missing_imports,
    run_mypy,
)
from seamwise.check._mypy.sources import (
    SourceGroup,
    SourceProblem,
    mypy_options,
    relative_path,
    source_groups,
    too_deep_problem,
)
from seamwise.check.collection.analysis import modules
from seamwise.check.collection.cache import FactsCache, digest_of, locked_folder
from seamwise.check.facts import FileFacts, RuleHit
from seamwise.check.findings import RawFinding
from seamwise.check.inference import infer
from seamwise.check.inference.edits.imports import pipeline_line
from seamwise.check.rules.registry import RULES
from seamwise.check.suppressions import parse_suppressions
from seamwise.check.typed_ast.channels import clear_caches
from seamwise.check.typed_ast.program import Module

_PIPELINE_PLUGIN = 'returns.contrib.mypy.returns_plugin'
_UNTYPED = 'mypy regards all calls as unreachable, so nothing has a type and no rule checks it.'


class CodeBase(Struct, frozen=True):
    """Facts of the requested files, and the problems that leave parts of them unknown."""

    files: tuple[FileFacts, ...]
    problems: tuple[SourceProblem, ...]
    imported: tuple[FileFacts, ...] = ()
    """Facts of further files that the requested ones import from their source folders."""
    type_errors: Mapping[TypeErrorPlace, int] = {}
    """Numbers of mypy's errors."""
    digest: bytes = b''
    """Digest of everything that the facts depend on; empty without a cache."""


def read_code_base(
    paths: Sequence[str], *, cache: Path | None = None, python_executable: str = ''
) -> CodeBase:
    """Collect the facts of files and folders, with mypy configured as in the current directory.

    A file that cannot be read becomes a problem, never an exception.

    Args:
        paths: Files and folders.
        cache: Folder of the cache. All files are analysed if it is None, if it is not writable, or
            if another process uses it; otherwise only the changed ones.
        python_executable: See `mypy_options`.
    """
    problems: list[SourceProblem] = []
    files: list[FileFacts] = []
    imported: dict[str, FileFacts] = {}
    type_errors = Counter[TypeErrorPlace]()
    digests: list[bytes] = []
    options = mypy_options(problems, python_executable=python_executable)
    groups = source_groups(paths, options, problems) if options is not None else []
    with locked_folder(cache if CAN_CACHE else None) as folder:
        for number, group in enumerate(groups):
            cache_of_group = FactsCache(folder / f'build-{number}') if folder is not None else None
            facts = (
                _read_cached(cache_of_group, group, problems, type_errors)
                if cache_of_group is not None
                else None
            )
            if cache_of_group is not None and facts is not None:
                digests.append(cache_of_group.digest(file.path for file in facts))
            if facts is None:
                facts = _read(group, problems, type_errors)
            requested = set(group.modules)
            files += [file for file in facts if file.module in requested]
            # mypy skips the bodies of functions in files whose errors it does not report.
            imported |= {
                file.path: file
                for file in facts
                if file.module not in requested and not file.is_untyped
            }
    problems += [
        SourceProblem(file.path, _UNTYPED, is_unread=False) for file in files if file.is_untyped
    ]
    problems += _unannotated(files)
    problems += _pipeline_problems(files, options.plugins if options is not None else ())
    is_cached = bool(groups) and len(digests) == len(groups)
    digest = digest_of([repr(problems).encode(errors='replace'), *digests]) if is_cached else b''
    # A file of another group may have been read as a module of another name.
    paths_of_files = {file.path for file in files}
    others = (file for path, file in imported.items() if path not in paths_of_files)
    return CodeBase(tuple(files), tuple(problems), tuple(others), type_errors, digest)


def _unannotated(files: Iterable[FileFacts]) -> Iterator[SourceProblem]:
    """Yield a note that names the files without annotations."""
    paths = [file.path for file in files if file.is_unannotated]
    if paths:
        yield SourceProblem(
            '',
            f'{pluralize(len(paths), "file")} without annotations, so that most rules find nothing'
            f' there: {join_limited(paths)}.',
            is_unread=False,
            is_note=True,
        )


def _pipeline_problems(
    files: Iterable[FileFacts], plugins: Iterable[str]
) -> Iterator[SourceProblem]:
    """Yield a problem at the first import of `flow` or `pipe`, unless mypy has their plugin."""
    if any(plugin.endswith('returns_plugin') for plugin in plugins):
        return
    users = [file for file in files if file.pipeline_line]
    if users:
        others = len(users) - 1
        places = f', also in {pluralize(others, "other file")}' if others else ''
        yield SourceProblem(
            users[0].path,
            f'without the plugin `{_PIPELINE_PLUGIN}`, mypy infers wrong types for `flow` and'
            f' `pipe`{places}: no rule checks their Results, nor the code behind them. Add it to'
            ' `plugins` in the configuration of mypy.',
            line=users[0].pipeline_line,
            is_unread=False,
        )


def facts_of(module: Module) -> FileFacts:
    """Collect the facts of one module, with the hits of all rules, selected or not."""
    findings = {code: tuple(rule.check_module(module)) for code, rule in RULES.items()}
    inferred = infer(
        module, {code: [finding.node for finding in found] for code, found in findings.items()}
    )
    hits = sorted(
        set(_rule_hits(findings, module)),
        key=lambda hit: (hit.location.line, hit.location.column, hit.code),
    )
    return replace(
        inferred,
        is_untyped=module.is_untyped,
        is_unannotated=module.is_unannotated,
        pipeline_line=pipeline_line(module),
        rule_hits=tuple(hits),
        suppressions=tuple(parse_suppressions(module.lines)),
    )


def _rule_hits(findings: Mapping[str, Sequence[RawFinding]], module: Module) -> Iterator[RuleHit]:
    for code, found in findings.items():
        for finding in found:
            location = module.location_of(finding.node)
            yield RuleHit(
                code,
                location,
                finding.message,
                finding.help,
                finding.edits,
                finding.severity,
                finding.quick_fixes,
                finding.unless,
            )


def _read(
    group: SourceGroup, problems: list[SourceProblem], type_errors: Counter[TypeErrorPlace]
) -> list[FileFacts]:
    build = run_mypy(group, problems)
    if build is None:
        return []
    facts = list(_collect_facts(_names_to_read(group, build), group, build, problems).values())
    type_errors.update(build.type_errors)
    problems += _import_problems(facts, group, build)
    return facts


def _read_cached(
    cache: FactsCache,
    group: SourceGroup,
    problems: list[SourceProblem],
    type_errors: Counter[TypeErrorPlace],
) -> list[FileFacts] | None:
    """Analyse the changed files and take the others from the cache; None if the cache fails."""
    try:
        # A module that so far was only imported is in mypy's cache, but without facts. It is then
        # removed from that cache, and the second build analyses it.
        for _ in range(2):
            build = run_mypy(group, problems, cache_dir=cache.mypy_folder)
            if build is None:
                return []
            facts = _facts_of_build(cache, group, build, problems)
            if facts is not None:
                type_errors.update(build.type_errors)
                problems += _import_problems(facts, group, build)
                return facts
    except sqlite3.Error:
        cache.clear()
    return None


def _facts_of_build(
    cache: FactsCache, group: SourceGroup, build: Build, problems: list[SourceProblem]
) -> list[FileFacts] | None:
    """Return the facts of a build; None if some are missing until the next build."""
    names = _names_to_read(group, build)
    cached = {name: cache.facts(name, build) for name in names if build.is_cached(name)}
    missing = [name for name, facts in cached.items() if facts is None]
    if missing:
        build.remove_from_cache(missing)
        return None
    new = _collect_facts([name for name in names if name not in cached], group, build, problems)
    cache.save(new, build)
    return [facts for name in names if (facts := new.get(name) or cached.get(name)) is not None]


def _names_to_read(group: SourceGroup, build: Build) -> list[str]:
    """Return the requested modules, and those they import from their source folders.

    The verdict on a file depends on these, also if they are not requested.
    """
    names = dict.fromkeys(name for name in group.modules if name in build)
    queue = list(names)
    while queue:
        importer = queue.pop()
        new = [
            name
            for name in build.neighbours(importer)
            if name not in names and build.have_one_source_folder(name, importer)
        ]
        names.update(dict.fromkeys(new))
        queue += new
    return list(names)


def _import_problems(
    facts: Iterable[FileFacts], group: SourceGroup, build: Build
) -> Iterator[SourceProblem]:
    requested = set(group.modules)
    imports = {file.path: file.missing_imports for file in facts if file.module in requested}
    return import_problems(imports, build)


def _collect_facts(
    names: Sequence[str], group: SourceGroup, build: Build, problems: list[SourceProblem]
) -> dict[str, FileFacts]:
    facts: dict[str, FileFacts] = {}
    imports = missing_imports(build)
    found: list[SourceProblem] = []
    with gc_disabled():
        for module in modules(build, names, found):
            try:
                facts[module.name] = replace(
                    facts_of(module),
                    missing_imports=tuple(imports.get(relative_path(str(module.path)), ())),
                    neighbours=tuple(build.neighbours(module.name)),
                )
            except RecursionError:
                found.append(too_deep_problem(str(module.path)))
    clear_caches()
    requested = {source.path for source in group.sources}
    problems += [problem for problem in found if problem.path in requested]
    return facts
