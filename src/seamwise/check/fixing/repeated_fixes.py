"""The loop of `--fix`: fixes are applied in batches, and bad ones are taken back.

A fix is bad if it adds a type error or a serious finding, or if its finding remains. The next check
shows it; a batch with a bad fix is halved until that one is found.
"""

import gc
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from seamwise.check.checking import Report
from seamwise.check.findings import Finding
from seamwise.check.fixing.fixes import apply_fixes, replace_file

_IMPOSSIBLE_ERROR, _UNREACHABLE_ARM = 'SW105', 'SW108'

_SERIOUS: Final = frozenset(
    {'SW101', 'SW102', 'SW103', 'SW104', 'SW116', 'SW117', 'SW118', 'SW119'}
)
"""Codes of which no fix may add a finding. Others can follow from a narrower channel."""

_MAX_ATTEMPTS: Final = 3
"""How often equal findings are fixed: two fixes could create the findings of each other."""

_Identity: TypeAlias = tuple[str, str, str, str]
"""Code, path, message and source line of a finding, which do not depend on other lines."""


class RejectedFix(Struct, frozen=True):
    """A fix that was taken back, and its harmful effect."""

    finding: Finding
    reason: str
    """The effect, as in `add a type error`."""


class FixSummary(Struct, frozen=True):
    """Result of all fixes."""

    report: Report
    """The remaining findings."""
    fixed: int
    paths: frozenset[str]
    rejected: tuple[RejectedFix, ...]


def fix_all(run: Callable[[], Report]) -> FixSummary:
    """Apply fixes until none is left: a narrower channel can allow a fix in its caller.

    An exception, such as a KeyboardInterrupt, takes back what was not checked.

    Args:
        run: Checks the code, also after each batch of fixes.

    Raises:
        OSError: A file cannot be read or written.
    """
    fixer = _Fixer(run)
    while batch := fixer.next_batch():
        fixer.fix(batch)
    return fixer.summary()


class _Fixer:
    """The state of the loop. Equal findings are fixed together, since they cannot be told apart."""

    def __init__(self, run: Callable[[], Report]) -> None:
        self._run = run
        self._report = run()
        self._old_arms = {
            _identity(item) for item in self._report.findings if item.code == _UNREACHABLE_ARM
        }
        """Unreachable arms that no fix has caused, and that are for the author to remove."""
        self._attempts: Counter[_Identity] = Counter()
        self._done: set[_Identity] = set()
        """Findings that are not fixed, or not again."""
        self._rejected: dict[_Identity, RejectedFix] = {}
        self._fixed = 0
        self._paths: set[str] = set()

    def summary(self) -> FixSummary:
        """Return the result."""
        rejected = tuple(self._rejected.values())
        return FixSummary(self._report, self._fixed, frozenset(self._paths), rejected)

    def next_batch(self) -> list[_Identity]:
        """Return the findings to fix next.

        Channels come last: other fixes propagate more errors.
        """
        items = [item for item in self._findings() if item.edits]
        batch = [item for item in items if _identity(item) not in self._done]
        batch = [item for item in batch if item.code != _IMPOSSIBLE_ERROR] or batch
        return list(dict.fromkeys(map(_identity, batch)))

    def _findings(self) -> Iterator[Finding]:
        """Yield the findings, with the edits for arms to which a fix has left no error."""
        for item in self._report.findings:
            is_new_arm = item.code == _UNREACHABLE_ARM and _identity(item) not in self._old_arms
            if is_new_arm and item.quick_fixes:
                yield replace(item, edits=item.quick_fixes[0].edits)
            else:
                yield item

    def fix(self, batch: Sequence[_Identity]) -> None:
        """Fix the findings of a batch, as far as they can be fixed and the fixes are good."""
        wanted = {*batch}
        # The lines of findings from an earlier report may have moved.
        findings = [item for item in self._findings() if _identity(item) in wanted]
        contents = {item.path: Path(item.path).read_bytes() for item in findings}
        problem = ''
        try:
            applied = apply_fixes(findings)
            if applied:
                after = self._check()
                problem = _problem(self._report, after, applied)
                if not problem:
                    self._accept(after, applied)
                    return
        except BaseException:
            _restore(contents)
            raise
        _restore(contents)
        if len(batch) > 1:
            middle = len(batch) // 2
            self.fix(batch[:middle])
            self.fix(batch[middle:])
            return
        self._done.update(batch)
        if applied:
            self._rejected[batch[0]] = RejectedFix(applied[0], problem)

    def _check(self) -> Report:
        report = self._run()
        # The thresholds of a build of mypy delay this, and the next build needs the memory.
        gc.collect()
        return report

    def _accept(self, report: Report, applied: Collection[Finding]) -> None:
        self._report = report
        self._fixed += len(applied)
        self._paths |= {item.path for item in applied}
        self._attempts.update({_identity(item) for item in applied})
        self._done |= {item for item, count in self._attempts.items() if count >= _MAX_ATTEMPTS}


def _identity(finding: Finding) -> _Identity:
    return finding.code, finding.path, finding.message, finding.source


def _problem(before: Report, after: Report, applied: Collection[Finding]) -> str:
    """Return the harmful effect of fixes, as in `add SW103`; empty if they have none."""
    type_errors = {(path, code): count for path, code, count in before.type_errors}
    if (before.is_complete and not after.is_complete) or any(
        count > type_errors.get((path, code), 0) for path, code, count in after.type_errors
    ):
        return 'add a type error'
    fixed = Counter(map(_identity, applied))
    old, new = (Counter(map(_identity, report.findings)) for report in (before, after))
    if any(new[item] > old[item] - count for item, count in fixed.items()):
        return 'leave the finding'
    codes = Counter(item.code for item in after.findings)
    codes.subtract(item.code for item in before.findings)
    codes.update(item.code for item in applied)
    added = sorted(code for code, count in codes.items() if count > 0 and code in _SERIOUS)
    return f'add {added[0]}' if added else ''


def _restore(contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        path = Path(name)
        if path.read_bytes() != content:
            replace_file(path, content)
