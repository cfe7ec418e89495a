"""The page of each rule: in the documents as in the program, its examples checked (and run, as all documents are)."""

import re
from pathlib import Path

import pytest

from seamwise.check.checking import check
from seamwise.check.rules.registry import RULES

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


@every_rule
def test_one_example_fails_and_the_other_does_not(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start, failing, mended = BLOCK.findall(RULES[code].page)
    (tmp_path / 'failing.py').write_text(start + failing, encoding='utf-8')
    (tmp_path / 'mended.py').write_text(start + mended, encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    report = check(['failing.py', 'mended.py'])
    assert [(one.path, one.code) for one in report.findings] == [('failing.py', code)]
    assert report.problems == ()
