"""Copy of the pages for the site, with those of the root, and with pictures for both themes."""

import re
import shutil
from pathlib import Path
from posixpath import normpath, relpath

ROOT_PAGES = {
    'CHANGELOG.md': 'changelog.md',
    'CONTRIBUTING.md': 'contributing.md',
    'SECURITY.md': 'security.md',
    'examples/agent/README.md': 'examples/agent.md',
    'examples/shop/README.md': 'examples/shop.md',
}
"""Pages outside of `docs`, and their paths on the site."""

_INDEX_PAGES = {'docs/check/README.md': 'check/index.md'}
"""A page whose address on the site is that of its folder."""
_MOVED = {**ROOT_PAGES, **_INDEX_PAGES, 'README.md': 'index.md'}
_INDEX_ENTRY = re.compile(r'^check/README$', re.MULTILINE)

_LINK = re.compile(r'(\]\(<?)([^)>\s#:]+)([^)>\s]*>?\))')
_PICTURE = re.compile(
    r'<picture>(?P<sources>(?:\s*<source [^>]*>)+)\s*'
    r'<img alt="(?P<alt>[^"]*)" src="(?P<address>[^"]+)">\s*</picture>'
)
_SOURCE = re.compile(r'<source media="([^"]+)" srcset="([^"]+)">')
_ANCHOR = re.compile(r'<a id="([^"]+)"></a>(\*\*[^*]+\*\*)')
_KEYWORDS = re.compile(r'<!-- keywords: (.*) -->\n\n?')
"""Other words for a page or a question, in a comment below its heading."""
_FENCE = re.compile(r'^( *)(```|~~~).*?^\1\2 *$', re.MULTILINE | re.DOTALL)


def stage(root: Path, target: Path) -> None:
    """Copy the pages of a repository to the source folder of the site."""
    shutil.copytree(root / 'docs', target, ignore=shutil.ignore_patterns('conf.py', '__pycache__'))
    for name, page in ROOT_PAGES.items():
        (target / page).parent.mkdir(exist_ok=True)
        shutil.copy(root / name, target / page)
    for name, page in _INDEX_PAGES.items():
        (target / name.removeprefix('docs/')).rename(target / page)
    sources = {page: name for name, page in {**ROOT_PAGES, **_INDEX_PAGES}.items()}
    for path in target.rglob('*.md'):
        page = path.relative_to(target).as_posix()
        text = _INDEX_ENTRY.sub('check/index', path.read_text(encoding='utf-8'))
        text = adapt(text, sources.get(page, f'docs/{page}'), page)
        if page != 'faq.md':
            text = with_keywords(text)
        path.write_text(text, encoding='utf-8')
    _split_questions(target / 'faq.md')


def _split_questions(faq: Path) -> None:
    """Give each question a page of its own, which a search finds, and list them on the page."""
    head, *questions = faq.read_text(encoding='utf-8').split('\n## ')
    folder = faq.with_name('questions')
    folder.mkdir()
    links: list[str] = []
    names: list[str] = []
    for question in questions:
        title = question.split('\n', 1)[0]
        name = re.sub(r'\W+', '-', title.lower()).strip('-')
        # The page is one folder deeper.
        text = re.sub(r'(\]\()(?=\w[^):]*\.md)', r'\1../', f'# {question}')
        text = with_keywords(text)
        (folder / f'{name}.md').write_text(f'{text.rstrip()}\n', encoding='utf-8')
        links.append(f'- [{title}](questions/{name}.md)')
        names.append(f'questions/{name}')
    toctree = '\n'.join(['```{toctree}', ':hidden:', '', *names, '```'])
    faq.write_text('\n'.join([head, *links, '', toctree, '']), encoding='utf-8')


def with_keywords(text: str) -> str:
    """Return a page with its keywords as entries of the index, where a search finds them.

    The words are in the front matter, too, for the search engines of others.
    """
    match = _KEYWORDS.search(text)
    if match is None:
        return text
    # Sphinx takes the text between two commas for one word.
    words = ', '.join(dict.fromkeys(re.findall(r'\w+', match[1])))
    meta = f'myst:\n  html_meta:\n    keywords: "{words}"\n---\n'
    text = _KEYWORDS.sub(f'```{{index}} {match[1]}\n```\n\n', text, count=1)
    head, text = (
        text.removeprefix('---\n').split('---\n', 1) if text.startswith('---') else ('', text)
    )
    return f'---\n{head}{meta}{text}'


def adapt(text: str, source: str, page: str) -> str:
    """Return the text of a page of the repository as a page of the site.

    Links between pages are changed where a page moves. Each variant of a picture becomes an
    image, of which the theme and the width of the window show one. Anchors in HTML become
    anchors that Sphinx knows.

    Args:
        text: The page.
        source: Its path in the repository.
        page: Its path on the site.

    >>> adapt('[Agent](../examples/agent/README.md#run)', 'docs/tools.md', 'tools.md')
    '[Agent](examples/agent.md#run)'
    """

    def moved(link: re.Match[str]) -> str:
        target = normpath(f'{source}/../{link[2]}')
        on_site = _MOVED.get(target, target.removeprefix('docs/'))
        return f'{link[1]}{relpath(on_site, normpath(f"{page}/.."))}{link[3]}'

    def outside_of_code(part: str) -> str:
        return _ANCHOR.sub(r'[\2]{#\1}', _LINK.sub(moved, _PICTURE.sub(_images, part)))

    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts += [outside_of_code(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return ''.join([*parts, outside_of_code(text[end:])])


def _images(picture: re.Match[str]) -> str:
    variants = [*_SOURCE.findall(picture['sources']), ('', picture['address'])]
    has_widths = '-width' in picture['sources']
    images: list[str] = []
    for media, address in reversed(variants):
        classes = '.only-dark' if 'dark' in media else '.only-light'
        if has_widths:
            widths = {'max-width': ' .narrow', 'min-width': ' .broad'}
            classes += next((name for key, name in widths.items() if key in media), ' .medium')
        images.append(f'![{picture["alt"]}]({address}){{{classes}}}')
    return '\n'.join(images)
