"""Check of files and folders: all facts are collected, then the selected rules report findings."""

from collections.abc import Iterator, Sequence
from time import perf_counter

from msgspec import Struct

try:
    from seamwise.check.code_base import read_code_base
    from seamwise.check.facts import FileFacts
    from seamwise.check.findings import Finding, Severity, to_finding
    from seamwise.check.mypy_sources import SourceProblem
    from seamwise.check.rules.registry import RULES
    from seamwise.check.rules.rule import Rule
    from seamwise.check.settings import CheckSettings
    from seamwise.check.suppressions import apply_suppressions
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "`seamwise check` needs mypy: pip install 'seamwise[check]'", name=error.name
    ) from error

__all__ = ['Report', 'run_check']


class Report(Struct, frozen=True):
    """Findings of a check, sorted by file and line, and the files it could not analyse."""

    findings: tuple[Finding, ...]
    problems: tuple[SourceProblem, ...]
    files: int
    seconds: float

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
    code_base = read_code_base(paths, cache=None if no_cache else settings.cache)
    rules = [rule for rule in RULES.values() if _is_selected(rule, settings, whole=whole)]
    findings = sorted(
        _findings(code_base.files, settings, rules),
        key=lambda finding: (finding.path, finding.line, finding.column, finding.code),
    )
    return Report(
        findings=tuple(findings),
        problems=code_base.problems,
        files=len(code_base.files),
        seconds=perf_counter() - started_at,
    )


def _is_selected(rule: Rule, settings: CheckSettings, *, whole: bool) -> bool:
    return settings.selects(rule.code, is_default=rule.is_default) and (
        whole or not rule.needs_whole_program
    )


def _findings(
    files: Sequence[FileFacts], settings: CheckSettings, rules: Sequence[Rule]
) -> Iterator[Finding]:
    severities: dict[str, Severity] = {
        rule.code: settings.severity.get(rule.code) or rule.severity for rule in rules
    }
    domain_only = {rule.code for rule in rules if rule.is_domain_only}
    hits = {
        file.path: [
            hit
            for hit in file.rule_hits
            if hit.code in severities and (hit.code not in domain_only or settings.is_domain(file))
        ]
        for file in files
    }
    for rule in rules:
        for file, hit in rule.check_program(files):
            hits[file.path].append(hit)
    for file in files:
        # A dict, because different types of one expression can cause the same finding.
        findings = dict.fromkeys(
            to_finding(hit, path=file.path, severity=severities[hit.code])
            for hit in hits[file.path]
            if not settings.ignores(file.path, hit.code)
        )
        yield from apply_suppressions(findings, file.suppressions)
