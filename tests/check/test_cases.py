"""Corpus of rule cases: precision and recall of all rules, from marks in the source files."""

import re
import shutil
from pathlib import Path

import pytest

from seamwise.check.checking import Report, run_check
from seamwise.check.rules.registry import RULES
from seamwise.check.settings import CheckSettings

CASES = Path(__file__).parent / 'cases'
MARK = re.compile(r'# finds(?P<next>-next)?: (?P<codes>SW\d+(?:, SW\d+)*)')


def marked_findings(folder: Path) -> set[tuple[str, int, str]]:
    """Return file, line and code of each finding that a mark in a case file expects."""
    findings: set[tuple[str, int, str]] = set()
    for file in folder.glob('*.py'):
        for number, line in enumerate(file.read_text(encoding='utf-8').splitlines(), 1):
            for mark in MARK.finditer(line):
                findings |= {
                    (file.name, number + bool(mark['next']), code)
                    for code in mark['codes'].split(', ')
                }
    return findings


def marked_codes(file: Path) -> set[str]:
    return {code for name, _, code in marked_findings(file.parent) if name == file.name}


def split_cases(file: Path) -> list[str]:
    return file.read_text(encoding='utf-8').split('\n# case: ')[1:]


@pytest.fixture(scope='module')
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    # SW104 permits unwrapping in a folder `tests`, so the files are checked elsewhere.
    folder = tmp_path_factory.mktemp('corpus')
    for file in CASES.glob('*.py'):
        shutil.copy(file, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        settings = CheckSettings(select=tuple(RULES), domain=('layer_violation',))
        return run_check(['.'], settings, whole=True, no_cache=True)


@pytest.mark.slow
def test_precision_and_recall_are_complete(
    report: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = {path.name: marked_codes(path) for path in CASES.glob('*.py')}
    # Each file is about one rule; findings of other rules do not count.
    findings = {
        (finding.path, finding.line, finding.code)
        for finding in report.findings
        if finding.code in (codes[finding.path] or {'SW104'})
    }
    expected = marked_findings(CASES)
    all_cases = [case for path in CASES.glob('*.py') for case in split_cases(path)]
    clean = [case for case in all_cases if not MARK.search(case)]
    with capsys.disabled():
        precision = len(findings & expected) / len(findings)
        recall = len(findings & expected) / len(expected)
        print(
            f'\n{len(all_cases)} cases, {len(clean)} of them clean:'
            f' precision {precision:.0%}, recall {recall:.0%}'
        )
    assert sorted(findings - expected) == []
    assert sorted(expected - findings) == []
    assert report.problems == ()
    assert len(all_cases) >= 120
    assert len(clean) * 2 >= len(all_cases)
