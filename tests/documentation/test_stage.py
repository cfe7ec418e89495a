"""Tests of `stage`: pages of the repository as pages of the site."""

from pathlib import Path

import pytest
from tools.documentation.stage import ROOT_PAGES, adapt, stage, with_keywords

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ('link', 'source', 'page', 'on_site'),
    [
        ('guards.md#retry', 'docs/live.md', 'live.md', 'guards.md#retry'),
        ('../guards.md', 'docs/seams/http.md', 'seams/http.md', '../guards.md'),
        ('../examples/agent/README.md', 'docs/tools.md', 'tools.md', 'examples/agent.md'),
        ('docs/glossary.md#guard', 'CONTRIBUTING.md', 'contributing.md', 'glossary.md#guard'),
        ('../../docs/live.md', 'examples/agent/README.md', 'examples/agent.md', '../live.md'),
        ('../README.md', 'docs/why.md', 'why.md', 'index.md'),
        ('check/README.md#rules', 'docs/how-to.md', 'how-to.md', 'check/index.md#rules'),
        ('../live.md', 'docs/check/README.md', 'check/index.md', '../live.md'),
        ('https://example.org/a.md', 'docs/why.md', 'why.md', 'https://example.org/a.md'),
        ('#below', 'docs/why.md', 'why.md', '#below'),
    ],
)
def test_links_lead_to_the_page_of_the_site(
    link: str, source: str, page: str, on_site: str
) -> None:
    assert adapt(f'[a]({link})', source, page) == f'[a]({on_site})'


def test_code_is_unchanged() -> None:
    code = '```md\n[a](../examples/agent/README.md)\n```\n'
    assert adapt(code, 'docs/tools.md', 'tools.md') == code


def test_a_picture_has_a_variant_for_each_theme() -> None:
    picture = (
        '<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="dark.png">\n'
        '  <img alt="A page" src="light.png">\n</picture>'
    )
    assert adapt(picture, 'docs/a.md', 'a.md').splitlines() == [
        '![A page](light.png){.only-light}',
        '![A page](dark.png){.only-dark}',
    ]


def test_a_picture_has_a_variant_for_each_width() -> None:
    picture = (
        '<picture>\n  <source media="(max-width: 46em)" srcset="phone.svg">\n'
        '  <source media="(min-width: 82em)" srcset="desk.svg">\n'
        '  <source media="(prefers-color-scheme: dark)" srcset="dark.svg">\n'
        '  <img alt="Seams" src="light.svg">\n</picture>'
    )
    assert adapt(picture, 'docs/a.md', 'a.md').splitlines() == [
        '![Seams](light.svg){.only-light .medium}',
        '![Seams](dark.svg){.only-dark .medium}',
        '![Seams](desk.svg){.only-light .broad}',
        '![Seams](phone.svg){.only-light .narrow}',
    ]


def test_terms_of_the_glossary_are_anchors() -> None:
    cell = '| <a id="arm"></a>**arm** | The entry |'
    assert adapt(cell, 'docs/glossary.md', 'glossary.md') == '| [**arm**]{#arm} | The entry |'


def test_all_pages_are_copied_with_those_of_the_root(tmp_path: Path) -> None:
    stage(ROOT, tmp_path / 'site')
    site = tmp_path / 'site'
    questions = set(site.glob('questions/*.md'))
    staged = {path.relative_to(site).as_posix() for path in {*site.rglob('*.md')} - questions}
    pages = {path.relative_to(ROOT / 'docs').as_posix() for path in ROOT.glob('docs/**/*.md')}
    moved = {'check/README.md'}
    assert staged == pages - moved | set(ROOT_PAGES.values()) | {'check/index.md'}
    assert '\ncheck/index\n' in (site / 'index.md').read_text(encoding='utf-8')
    assert len(questions) == (ROOT / 'docs/faq.md').read_text(encoding='utf-8').count('\n## ')


def test_a_question_has_a_page_with_its_links(tmp_path: Path) -> None:
    stage(ROOT, tmp_path / 'site')
    folder = tmp_path / 'site' / 'questions'
    text = (folder / 'what-order-should-guards-go-in.md').read_text(encoding='utf-8')
    front_matter, _, page = text.removeprefix('---\n').partition('---\n')
    assert 'keywords: "nest, timeout, and, retry, ' in front_matter
    assert page.startswith('# What order should guards go in?\n')
    assert '<!--' not in page
    assert '(../guards.md#combine-guards)' in text


def test_keywords_are_entries_of_the_index_below_the_title() -> None:
    page = '---\nhide-toc: true\n---\n\n# Retry\n\n<!-- keywords: back off, jitter -->\n\nUse it.\n'
    assert with_keywords(page).splitlines() == [
        '---',
        'hide-toc: true',
        'myst:',
        '  html_meta:',
        '    keywords: "back, off, jitter"',
        '---',
        '',
        '# Retry',
        '',
        '```{index} back off, jitter',
        '```',
        '',
        'Use it.',
    ]
