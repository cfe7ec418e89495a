"""Markdown copies of the pages, and llms.txt, for language models.

See https://llmstxt.org: an index with one link and one sentence for each page.
"""

from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname

from tools.documentation.plain import Pages, copy_of, summary_of, title_of

_ABOUT = 'Typed failures for Python: errors as values, and one shape for each reader of an error.'


def write_copies(source: Path, converted: Path, site: Path) -> None:
    """Write a Markdown copy of each page beside it, llms.txt and llms-full.txt.

    The page `guards/` has its copy at `guards/index.md`.

    Args:
        source: Folder with the sources of the pages.
        converted: Folder with Markdown that Sphinx has made of the pages. It is used for those that
            are not written in Markdown.
        site: Folder of the site.

    Raises:
        LookupError: Links of the copies lead nowhere.
    """
    texts: dict[str, str] = {}
    for path in sorted([*source.rglob('*.md'), *source.rglob('*.rst')]):
        name = path.relative_to(source).with_suffix('').as_posix()
        text_path = path if path.suffix == '.md' else converted / f'{name}.md'
        texts[name] = text_path.read_text(encoding='utf-8')
    pages = Pages(texts, frozenset(path.name for path in site.glob('_images/*')))
    problems: list[str] = []
    full: list[str] = []
    summaries: dict[str, str] = {}
    for page in _in_order(pages):
        try:
            copy = pages.plain(page, dirname(copy_of(page)))
            full.append(pages.plain(page, '.'))
        except LookupError as problem:
            problems.append(str(problem))
            continue
        (site / copy_of(page)).write_text(copy, encoding='utf-8')
        summaries[page] = summary_of(copy)
    if problems:
        raise LookupError('\n'.join(problems))
    (site / 'llms.txt').write_text('\n'.join(_index(pages, summaries)), encoding='utf-8')
    (site / 'llms-full.txt').write_text('\n\n'.join(full), encoding='utf-8')


def _index(pages: Pages, summaries: dict[str, str]) -> Iterator[str]:
    yield f'# Seamwise\n\n> {_ABOUT}\n'
    for title, names in _sections(pages):
        yield f'## {title}\n'
        for name in names:
            summary = f': {summaries[name]}' if summaries[name] else ''
            yield f'- [{title_of(pages.texts[name])}]({copy_of(name)}){summary}'
        yield ''


def _sections(pages: Pages) -> Iterator[tuple[str, list[str]]]:
    """Yield the titles and pages of the sections.

    The start page is the first. Each page in one of its lists is a section with all pages below
    it. Pages without others below them are a section together, named after their list.
    """
    listed: set[str] = {'index'}
    yield title_of(pages.texts['index']), ['index']
    for toctree in pages.toctrees('index'):
        single: list[str] = []
        for page in toctree.pages:
            below = list(_with_pages_below(pages, page, listed))
            if len(below) > 1:
                yield title_of(pages.texts[page]), below
            else:
                single += below
        if single:
            yield toctree.caption or 'Pages', single
    others = [page for page in pages.texts if page not in listed]
    if others:
        yield 'Other pages', others


def _in_order(pages: Pages) -> Iterator[str]:
    for _title, names in _sections(pages):
        yield from names


def _with_pages_below(pages: Pages, page: str, listed: set[str]) -> Iterator[str]:
    if page not in listed:
        listed.add(page)
        yield page
        for toctree in pages.toctrees(page):
            for name in toctree.pages:
                yield from _with_pages_below(pages, name, listed)
