"""Documentation pages of the rules: same text as in the program, and examples that are checked."""

import re
from pathlib import Path

import pytest

from seamwise.check.checking import Report, run_check
from seamwise.check.rules.registry import RULES
from seamwise.check.settings import CheckSettings

# Each test runs mypy.
pytestmark = pytest.mark.slow

PAGES = Path(__file__).parents[2] / 'docs' / 'check'
BLOCK = re.compile(r'^```python\n(.*?)^```$', re.MULTILINE | re.DOTALL)

every_rule = pytest.mark.parametrize('code', RULES)


@every_rule
def test_page_in_docs_equals_page_of_program(code: str) -> None:
    page = (PAGES / f'{code}.md').read_text(encoding='utf-8')
    assert page == RULES[code].page
    assert page.startswith(f'# {code}: {RULES[code].title}\n')


def test_every_page_belongs_to_a_rule() -> None:
    assert {file.stem for file in PAGES.glob('SW*.md')} == set(RULES)


@pytest.fixture(scope='module')
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Return the report on the examples of all pages. One run starts mypy only once."""
    folder = tmp_path_factory.mktemp('pages')
    for code, rule in RULES.items():
        start, reported, fixed = BLOCK.findall(rule.page)
        (folder / f'{code}_reported.py').write_text(start + reported, encoding='utf-8')
        (folder / f'{code}_fixed.py').write_text(start + fixed, encoding='utf-8')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        # SW109 applies to the domain only, and other pages contain seams.
        settings = CheckSettings(select=tuple(RULES), domain=('SW109_reported', 'SW109_fixed'))
        return run_check(['.'], settings, whole=True, no_cache=True)


@every_rule
def test_first_example_is_reported_and_fixed_one_is_not(code: str, report: Report) -> None:
    # Rules that are off by default, or need a whole program, report other pages too.
    others = {
        other_code
        for other_code, rule in RULES.items()
        if other_code != code and (rule.needs_whole_program or not rule.is_default)
    }
    findings = [
        (finding.path, finding.code)
        for finding in report.findings
        if finding.path.startswith(code) and finding.code not in others
    ]
    assert findings == [(f'{code}_reported.py', code)]
    assert report.problems == ()
