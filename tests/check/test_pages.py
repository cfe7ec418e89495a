"""The page of each rule: in the documents as in the program, its examples checked (and run, as all documents are)."""

import re
from pathlib import Path

import pytest

from seamwise.check.checking import Report, run_check
from seamwise.check.rules.registry import RULES
from seamwise.check.settings import CheckSettings

PAGES = Path(__file__).parents[2] / 'docs' / 'check'
BLOCK = re.compile(r'^```python\n(.*?)^```$', re.MULTILINE | re.DOTALL)

every_rule = pytest.mark.parametrize('code', RULES)


@every_rule
def test_the_page_in_the_documents_is_the_one_that_the_program_shows(code: str) -> None:
    page = (PAGES / f'{code}.md').read_text(encoding='utf-8')
    assert page == RULES[code].page
    assert page.startswith(f'# {code}: {RULES[code].title}.\n')


def test_every_page_is_of_a_rule() -> None:
    assert {file.stem for file in PAGES.glob('SW*.md')} == set(RULES)


@pytest.fixture(scope='module')
def told(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Ask all rules about all examples at once: mypy takes its time to start."""
    folder = tmp_path_factory.mktemp('pages')
    for code, rule in RULES.items():
        start, failing, mended = BLOCK.findall(rule.page)
        (folder / f'{code}_failing.py').write_text(start + failing, encoding='utf-8')
        (folder / f'{code}_mended.py').write_text(start + mended, encoding='utf-8')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        # SW109 speaks of the domain only, and other pages show seams.
        asked = CheckSettings(select=tuple(RULES), domain=('SW109_failing', 'SW109_mended'))
        return run_check(['.'], asked, whole=True, no_cache=True)


@every_rule
def test_one_example_fails_and_the_other_does_not(code: str, told: Report) -> None:
    # Of the other pages, the rules that are not asked by themselves have something to say.
    others = {
        one
        for one, rule in RULES.items()
        if one != code and (rule.is_of_whole or not rule.is_asked)
    }
    found = [
        (one.path, one.code)
        for one in told.findings
        if one.path.startswith(code) and one.code not in others
    ]
    assert found == [(f'{code}_failing.py', code)]
    assert told.problems == ()
