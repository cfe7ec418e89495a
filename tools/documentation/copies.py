"""Markdown copies of the pages, and llms.txt, for language models.

See https://llmstxt.org: an index with one link and one sentence for each page.
"""

import re
from pathlib import Path

_ABOUT = 'Typed failures for Python: errors as values, and one shape for each reader of an error.'
_HEADING = re.compile(r'^# (.+)$', re.MULTILINE)
_SENTENCE = re.compile(r'^(?!#|\||```|<|:|\(|-|!|\[?\d)(\S.*?[.!?])(?=\s|$)', re.MULTILINE)
_LINK = re.compile(r'\[([^\]]*)\]\([^)]*\)')


def write_copies(source: Path, converted: Path, site: Path) -> None:
    """Write a Markdown copy of each page beside it, llms.txt and llms-full.txt.

    The page `guards/` has its copy at `guards/index.md`.

    Args:
        source: Folder with the sources of the pages.
        converted: Folder with Markdown that Sphinx has made of the pages. It is used for those that
            are not written in Markdown.
        site: Folder of the site.
    """
    lines = [f'# Seamwise\n\n> {_ABOUT}\n\n## Pages\n']
    pages: list[str] = []
    for path in sorted([*source.rglob('*.md'), *source.rglob('*.rst')]):
        page = path.relative_to(source).with_suffix('')
        text_path = path if path.suffix == '.md' else converted / f'{page}.md'
        text = text_path.read_text(encoding='utf-8')
        copy = site / (page.parent if page.name == 'index' else page) / 'index.md'
        copy.write_text(text, encoding='utf-8')
        pages.append(text)
        lines.append(f'- [{_title(text)}]({copy.relative_to(site).as_posix()}){_summary(text)}')
    (site / 'llms.txt').write_text('\n'.join(lines) + '\n', encoding='utf-8')
    (site / 'llms-full.txt').write_text('\n\n'.join(pages), encoding='utf-8')


def _title(text: str) -> str:
    heading = _HEADING.search(text)
    return heading[1].replace('`', '') if heading is not None else ''


def _summary(text: str) -> str:
    sentence = _SENTENCE.search(text)
    return ': ' + _LINK.sub(r'\1', sentence[1]) if sentence is not None else ''
