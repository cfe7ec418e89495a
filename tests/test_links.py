"""Links between the Markdown pages of the project: files, anchors, and terms of the glossary."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r'^( *)(```|~~~).*?^\1\2 *$', re.MULTILINE | re.DOTALL)
CODE = re.compile(r'(`+).+?\1')
LINK = re.compile(r'\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)>\s]+)>?(?: "[^"]*")?\)')
HEADING = re.compile(r'^#{1,6} +(.+?) *#* *$', re.MULTILINE)
ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)"')
EXTERNAL = re.compile(r'[a-z][a-z0-9+.-]*:|//')


def markdown_pages() -> list[Path]:
    """Return all Markdown files that git tracks or would track."""
    command = ['git', 'ls-files', '--cached', '--others', '--exclude-standard', '*.md']
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode:  # an unpacked archive without a repository
        return sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md')])
    return [path for name in result.stdout.splitlines() if (path := ROOT / name).exists()]


PAGES = markdown_pages()


def prose_of(text: str) -> str:
    """Return a page with blanks in place of its code, so that line numbers stay the same."""
    text = FENCE.sub(lambda block: re.sub(r'[^\n]', ' ', block[0]), text)
    text = re.sub(r'^(?: {4}|\t).*$', '', text, flags=re.MULTILINE)
    return CODE.sub(lambda code: ' ' * len(code[0]), text)


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives to a heading.

    >>> slug('Run `seamwise check` in CI/CD, twice')
    'run-seamwise-check-in-cicd-twice'
    """
    heading = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', heading)
    return re.sub(r'[^\w\- ]', '', heading.strip().lower()).replace(' ', '-')


def anchors_of(text: str) -> set[str]:
    """Return the anchors of a page: headings, repeated ones with a number, and `<a id>`."""
    text = FENCE.sub('', text)
    anchors = set(ANCHOR.findall(text))
    counts = Counter[str]()
    for heading in HEADING.findall(text):
        anchor = slug(heading)
        anchors.add(f'{anchor}-{counts[anchor]}' if counts[anchor] else anchor)
        counts[anchor] += 1
    return anchors


def link_targets(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the target of each link that leads to a file or an anchor."""
    prose = prose_of(text)
    for link in LINK.finditer(prose):
        if not EXTERNAL.match(link[1]):
            yield prose.count('\n', 0, link.start()) + 1, link[1]


def link_problem(page: Path, target: str) -> str | None:
    """Return the reason why a link of a page is broken, or None if it holds."""
    path, _, anchor = target.partition('#')
    file = (page.parent / unquote(path)).resolve() if path else page
    if not file.is_relative_to(ROOT):
        return 'leads outside the repository'
    if not file.exists():
        return 'the file does not exist'
    if not anchor or file.suffix != '.md':
        return None
    if unquote(anchor) not in anchors_of(file.read_text(encoding='utf-8')):
        return 'the page has no such anchor'
    return None


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_of_a_page_holds(page: Path) -> None:
    targets = link_targets(page.read_text(encoding='utf-8'))
    problems = [
        f'{page.relative_to(ROOT)}:{line}: {target}: {problem}'
        for line, target in targets
        if (problem := link_problem(page, target))
    ]
    assert problems == []


def test_pages_contain_links() -> None:
    count = sum(len([*link_targets(page.read_text(encoding='utf-8'))]) for page in PAGES)
    assert len(PAGES) >= 40
    assert count >= 100


def test_anchors_follow_the_rules_of_github() -> None:
    text = '# A `b_c` & d!\n\n## Twice\n\n## Twice\n\n```sh\n# no heading\n```\n<a id="term"></a>\n'
    assert anchors_of(text) == {'a-b_c--d', 'twice', 'twice-1', 'term'}


@pytest.mark.parametrize(
    ('target', 'problem'),
    [
        ('README.md', None),
        ('docs/glossary.md#seam', None),
        ('docs/glossary.md#no-such-term', 'the page has no such anchor'),
        ('docs/no_such_page.md', 'the file does not exist'),
        ('../elsewhere.md', 'leads outside the repository'),
        ('#no-such-heading', 'the page has no such anchor'),
    ],
)
def test_a_broken_link_is_reported(target: str, problem: str | None) -> None:
    assert link_problem(ROOT / 'README.md', target) == problem


def test_links_in_code_are_ignored() -> None:
    text = 'See [a](b.md).\n\n```py\nx = [c](d.md)\n```\n`[e](f.md)` [web](https://example.org)\n'
    assert [*link_targets(text)] == [(1, 'b.md')]
