"""The corpus: what is to be found is found, and nothing else."""

import re
import shutil
from pathlib import Path

import pytest

from seamwise.check.checking import Report, run_check
from seamwise.check.rules.registry import RULES
from seamwise.check.settings import CheckSettings

CASES = Path(__file__).parent / 'cases'
MARK = re.compile(r'# finds(?P<next>-next)?: (?P<codes>SW\d+(?:, SW\d+)*)')


def expected(folder: Path) -> set[tuple[str, int, str]]:
    """Give what the marks of the cases say: file, line, code."""
    found: set[tuple[str, int, str]] = set()
    for file in folder.glob('*.py'):
        for number, line in enumerate(file.read_text(encoding='utf-8').splitlines(), 1):
            for mark in MARK.finditer(line):
                found |= {
                    (file.name, number + bool(mark['next']), code)
                    for code in mark['codes'].split(', ')
                }
    return found


def rule_of(file: Path) -> set[str]:
    return {code for name, _, code in expected(file.parent) if name == file.name}


def cases(file: Path) -> list[str]:
    return file.read_text(encoding='utf-8').split('\n# case: ')[1:]


@pytest.fixture(scope='module')
def checked(tmp_path_factory: pytest.TempPathFactory) -> Report:
    # Elsewhere, since what lies in a folder `tests` may unwrap.
    folder = tmp_path_factory.mktemp('corpus')
    for file in CASES.glob('*.py'):
        shutil.copy(file, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return run_check(['.'], CheckSettings(select=tuple(RULES)), whole=True, no_cache=True)


def test_precision_and_recall_are_whole(
    checked: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    own = {path.name: rule_of(path) for path in CASES.glob('*.py')}
    # Each file is about one rule; what the others say of it is theirs.
    found = {
        (one.path, one.line, one.code)
        for one in checked.findings
        if one.code in (own[one.path] or {'SW104'})
    }
    wanted = expected(CASES)
    all_cases = [one for path in CASES.glob('*.py') for one in cases(path)]
    clean = [one for one in all_cases if not MARK.search(one)]
    with capsys.disabled():
        precision = len(found & wanted) / len(found)
        recall = len(found & wanted) / len(wanted)
        print(
            f'\n{len(all_cases)} cases, {len(clean)} of them clean: precision {precision:.0%}, recall {recall:.0%}'
        )
    assert sorted(found - wanted) == []
    assert sorted(wanted - found) == []
    assert checked.problems == ()
    assert len(all_cases) >= 120
    assert len(clean) * 2 >= len(all_cases)
