"""Check of files and folders: all facts are collected, then the selected rules report findings."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from time import perf_counter

from msgspec import Struct
from msgspec.structs import replace

try:
    from seamwise.check._mypy.sources import SourceProblem
    from seamwise.check.collection.code_base import CodeBase, read_code_base
    from seamwise.check.facts import FileFacts, Severity
    from seamwise.check.findings import Finding, to_finding
    from seamwise.check.inference.exception_flow.helpers import ExceptionHelpers
    from seamwise.check.rules.registry import RULES
    from seamwise.check.rules.rule import Rule
    from seamwise.check.rules.unused_suppression import CODE as UNUSED_SUPPRESSION
    from seamwise.check.rules.unused_suppression import unused_suppressions
    from seamwise.check.settings import CheckSettings
    from seamwise.check.suppressions import apply_suppressions
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "`seamwise check` needs mypy: pip install 'seamwise[check]'", name=error.name
    ) from error

__all__ = ['Report', 'report_on', 'run_check']


class Report(Struct, frozen=True):
    """Findings of a check, sorted by file and line, and the files it could not analyse."""

    findings: tuple[Finding, ...]
    problems: tuple[SourceProblem, ...]
    files: int
    seconds: float
    untyped_files: int = 0
    """Number of files in which nothing has a type."""
    type_errors: tuple[tuple[str, str, int], ...] = ()
    """Numbers of mypy's errors by file and code."""

    @property
    def is_complete(self) -> bool:
        """Whether all requested files were analysed."""
        return not any(problem.is_unread for problem in self.problems)


def run_check(
    paths: Sequence[str],
    settings: CheckSettings | None = None,
    *,
    whole: bool = False,
    no_cache: bool = False,
) -> Report:
    """Check files and folders.

    Args:
        paths: Files and folders. Paths in the report are relative to the current directory.
        settings: Selected rules and the folder of the cache; the defaults if None.
        whole: Whether `paths` are all files of a program. Otherwise, the rules that need the whole
            program are skipped.
        no_cache: Analyse all files, instead of only those that changed since the last check.

    Returns:
        The report. Files that cannot be analysed are among its problems.
    """
    started_at = perf_counter()
    settings = settings or CheckSettings()
    code_base = read_code_base(
        paths,
        cache=None if no_cache else settings.cache,
        python_executable=settings.python_executable,
    )
    report = report_on(code_base, settings, whole=whole)
    return replace(report, seconds=perf_counter() - started_at)


def report_on(code_base: CodeBase, settings: CheckSettings, *, whole: bool = False) -> Report:
    """Report the findings in an analysed code base; see `run_check` for the parameters."""
    rules = [rule for rule in RULES.values() if _is_selected(rule, settings, whole=whole)]
    selected = {rule.code for rule in rules}
    if UNUSED_SUPPRESSION in selected and settings.select:
        # Whether a suppression has an effect depends on the rules that are not selected.
        every = replace(settings, select=())
        rules = [
            rule
            for rule in RULES.values()
            if rule.code in selected or _is_selected(rule, every, whole=whole)
        ]
    uncertain = {problem.path for problem in code_base.problems}
    uncertain |= {file.path for file in code_base.files if file.missing_imports}
    findings = sorted(
        (
            finding
            for finding in _findings(code_base, settings, rules, uncertain)
            if finding.code in selected
        ),
        # The message decides between findings at one place, which come from a set.
        key=lambda item: (item.path, item.line, item.column, item.code, item.message),
    )
    return Report(
        findings=tuple(findings),
        problems=code_base.problems,
        files=len(code_base.files),
        untyped_files=sum(file.is_untyped for file in code_base.files),
        type_errors=tuple(
            (place.path, place.code, count) for place, count in code_base.type_errors.items()
        ),
        seconds=0.0,
    )


def _is_selected(rule: Rule, settings: CheckSettings, *, whole: bool) -> bool:
    return settings.selects(rule.code, is_default=rule.is_default) and (
        whole or not rule.needs_whole_program
    )


def _findings(
    code_base: CodeBase,
    settings: CheckSettings,
    rules: Sequence[Rule],
    uncertain: AbstractSet[str],
) -> Iterator[Finding]:
    severities: dict[str, Severity] = {
        rule.code: settings.severity.get(rule.code) or rule.severity for rule in rules
    }
    domain_only = {rule.code for rule in rules if rule.is_domain_only}
    files = code_base.files
    known = (*files, *code_base.imported)
    helpers = ExceptionHelpers(
        (helper for file in known for helper in file.exception_helpers),
        (exit_ for file in known for exit_ in file.block_exits),
        (flow for file in known for flow in file.exception_flows),
    )
    hits = {
        file.path: [
            hit
            for hit in file.rule_hits
            if hit.code in severities
            and (hit.code not in domain_only or settings.is_domain(file))
            and not helpers.satisfy(hit.unless)
        ]
        for file in files
    }
    partial = _modules_with_unknown_imports(known)
    of_many_files = {rule.code for rule in rules if rule.reads_other_files}
    for rule in rules:
        for file, hit in rule.check_program(known):
            if file.path in hits:
                hits[file.path].append(hit)
    for file in files:
        # A dict, because different types of one expression can cause the same finding.
        findings = dict.fromkeys(
            to_finding(
                hit if hit.code not in settings.severity else replace(hit, severity=None),
                path=file.path,
                severity=severities[hit.code],
            )
            for hit in hits[file.path]
            if not settings.ignores(file.path, hit.code)
        )
        used: set[tuple[int, str]] = set()
        yield from apply_suppressions(findings, file.suppressions, used)
        active = {
            code
            for code in severities
            if not settings.ignores(file.path, code)
            and (code not in domain_only or settings.is_domain(file))
        }
        # A rule cannot find anything in an expression whose type is unknown.
        if UNUSED_SUPPRESSION in active and file.path not in uncertain:
            decided = active - of_many_files if file.module in partial else active
            unused = unused_suppressions(file.suppressions, used, active=decided, known=RULES)
            severity = severities[UNUSED_SUPPRESSION]
            yield from apply_suppressions(
                (to_finding(hit, path=file.path, severity=severity) for hit in unused),
                file.suppressions,
            )


def _modules_with_unknown_imports(files: Sequence[FileFacts]) -> AbstractSet[str]:
    """Return the modules that import one without facts, directly or through others."""
    importers: dict[str, list[str]] = {}
    for file in files:
        for name in file.neighbours:
            importers.setdefault(name, []).append(file.module)
    known = {file.module for file in files}
    queue = [name for name in importers if name not in known]
    modules: set[str] = set()
    while queue:
        new = set(importers.get(queue.pop(), ())) - modules
        modules |= new
        queue += new
    return modules
