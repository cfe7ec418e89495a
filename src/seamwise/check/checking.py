"""`check(paths)`: every rule over every module."""

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
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "`seamwise check` needs mypy: pip install 'seamwise[check]'", name=missing.name
    ) from missing

__all__ = ['Report', 'check']


class Report(Struct, frozen=True):
    """What was found, in the order of files and lines, and what could not be read."""

    findings: tuple[Finding, ...]
    problems: tuple[SourceProblem, ...]
    files: int
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether all that was asked for has been read."""
        return not any(one.is_unread for one in self.problems)


def run_check(
    paths: Sequence[str],
    settings: CheckSettings | None = None,
    *,
    whole: bool = False,
    no_cache: bool = False,
) -> Report:
    """Ask the rules about files and folders; paths in the report are relative to the current directory.

    What cannot be read is in `problems`, and the rest is checked all the same. `whole` says that these are all files of a
    program, so that the rules that must see all of it are asked too. Unless `no_cache`, what is known of the files is kept in
    the folder that the settings say, and only what has changed is read.
    """
    began = perf_counter()
    asked = settings or CheckSettings()
    code_base = read_code_base(paths, cache=None if no_cache else asked.cache)
    found = list(
        _findings(
            code_base.files,
            asked,
            [one for one in RULES.values() if _is_asked(one, asked, whole=whole)],
        )
    )
    found.sort(key=lambda one: (one.path, one.line, one.column, one.code))
    return Report(tuple(found), code_base.problems, len(code_base.files), perf_counter() - began)


def _is_asked(rule: Rule, settings: CheckSettings, *, whole: bool) -> bool:
    return settings.asks(rule.code, is_on=rule.is_default) and (
        whole or not rule.needs_whole_program
    )


def _findings(
    files: Sequence[FileFacts], settings: CheckSettings, rules: Sequence[Rule]
) -> Iterator[Finding]:
    grave: dict[str, Severity] = {
        rule.code: settings.severity.get(rule.code) or rule.severity for rule in rules
    }
    of_domain = {rule.code for rule in rules if rule.is_domain_only}
    told = {
        file.path: [
            one
            for one in file.rule_hits
            if one.code in grave and (one.code not in of_domain or settings.is_domain(file))
        ]
        for file in files
    }
    for rule in rules:
        for file, one in rule.check_program(files):
            told[file.path].append(one)
    for file in files:
        asked = [one for one in told[file.path] if not settings.excuses(file.path, one.code)]
        found = dict.fromkeys(
            to_finding(one, path=file.path, severity=grave[one.code]) for one in asked
        )
        yield from apply_suppressions(found, file.suppressions)
