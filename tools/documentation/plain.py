"""Plain Markdown of pages: without the directives, attributes and front matter of MyST."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from posixpath import basename, dirname, normpath, relpath

_FRONT_MATTER = re.compile(r'\A---\n.*?^---\n+', re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r'^ *(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence) *\n?', re.MULTILINE | re.DOTALL)
_DIRECTIVE = re.compile(r'`{3,}\{(?P<name>[\w:-]+)\} ?(?P<argument>.*)\n(?P<body>[^`]*)')
_OPTION = re.compile(r'^:([\w-]+): ?(.*)\n', re.MULTILINE)
_CARD = re.compile(
    r'^:::+\{grid-item-card\} (?P<title>.+)\n:link: (?P<page>.+)\n:link-type: doc\n+'
    r'(?P<text>(?:.+\n)+?):::+\n\n?',
    re.MULTILINE,
)
_GRID = re.compile(r'^:::+\{grid\}.*\n(?::.*\n)*\n*', re.MULTILINE)
_TITLED = re.compile(r'^:::+\{(?:dropdown|grid-item-card)\} (.*)\n(?::.*\n)*\n?', re.MULTILINE)
_SPAN = re.compile(r'(?<!\!)\[([^\[\]]+)\]\{\.[\w-]+\}')
_CLASSES = re.compile(r'(?<=\))\{\.[\w .-]+\}')
_COLON_FENCE = re.compile(r'^:::+\n', re.MULTILINE)
_UNKNOWN = re.compile(r'^:::.*', re.MULTILINE)
_OTHER_VARIANT = re.compile(r'^!\[.*\{[^}]*\.(?:only-dark|narrow|broad)[^}]*\}\n?', re.MULTILINE)
_ANCHOR = re.compile(r'\[([^\[\]]+)\]\{#([^}]+)\}')
_ID = re.compile(r'<a id="([^"]+)"></a>')
_HEADING = re.compile(r'^#{1,6} (.+)$', re.MULTILINE)
_CODE_OR_LINK = re.compile(
    r'(?P<code>(?P<ticks>(?<!`)`+(?!`))(?:[^\n]|\n(?!\n))+?(?<!`)(?P=ticks)(?!`))'
    r'|\]\((?P<target>[^)\s]+)\)'
)
_ABSOLUTE = re.compile(r'[\w+]+:')
_LINK = re.compile(r'!?\[([^\]]*)\]\([^)]*\)')
_SENTENCE = re.compile(r'.+?(?<!e\.g)(?<!i\.e)[.!?](?=\s|$)')
_NO_PARAGRAPH = re.compile(r'[#|<!>:=]|\*\*|[-*+] |\d+\. ')


@dataclass(frozen=True)
class Toctree:
    """A list of pages below a page."""

    pages: tuple[str, ...]
    caption: str | None = None


@dataclass(frozen=True)
class Pages:
    """The pages of a site."""

    texts: Mapping[str, str]
    """Their Markdown, by their names without suffix, such as `guards/retry`."""
    pictures: frozenset[str] = frozenset()
    """Names of the files in `_images`."""

    def plain(self, page: str, folder: str) -> str:
        """Return a page in plain Markdown, with links that start from a folder of the site.

        A list of pages becomes a list of links to those that the text does not link.

        Raises:
            LookupError: A link leads nowhere, or the page has a directive of another kind.
        """
        text = _OTHER_VARIANT.sub('', _FRONT_MATTER.sub('', self.texts[page]))
        linked = {
            self._resolve(page, match['target'])[0]
            for part, is_code in _split_code(text)
            if not is_code
            for match in _CODE_OR_LINK.finditer(part)
            if match['target'] is not None and not _ABSOLUTE.match(match['target'])
        }
        parts: list[str] = []
        for part, is_code in _split_code(text):
            directive = _DIRECTIVE.match(part) if is_code else None
            if directive is not None:
                parts.append(self._replace_directive(page, directive, linked))
            else:
                parts.append(part if is_code else self._plain_prose(page, part))
        return ''.join(self._moved(page, parts, folder)).strip() + '\n'

    def toctrees(self, page: str) -> Iterator[Toctree]:
        """Yield the lists of pages on a page."""
        for part, is_code in _split_code(self.texts[page]):
            directive = _DIRECTIVE.match(part) if is_code else None
            if directive is not None and directive['name'] == 'toctree':
                yield self._toctree(page, directive)

    def _toctree(self, page: str, directive: re.Match[str]) -> Toctree:
        options = dict(_OPTION.findall(directive['body']))
        entries: list[str] = []
        for line in _OPTION.sub('', directive['body']).split():
            pattern = normpath(f'{dirname(page)}/{line}').lstrip('/')
            entries += sorted(name for name in self.texts if fnmatchcase(name, pattern))
        return Toctree(tuple(entries), options.get('caption'))

    def _replace_directive(self, page: str, directive: re.Match[str], linked: set[str]) -> str:
        if directive['name'].startswith('py:'):
            return f'<a id="{directive["argument"]}"></a>\n'
        if directive['name'] == 'index':
            return ''
        if directive['name'] != 'toctree':
            raise LookupError(f'{page} has the directive {directive["name"]}.')
        toctree = self._toctree(page, directive)
        folder = dirname(page) or '.'
        links = [
            f'- [{title_of(self.texts[name])}]({relpath(name, folder)}.md)'
            for name in toctree.pages
            if copy_of(name) not in linked
        ]
        caption = [f'{toctree.caption}:\n'] if links and toctree.caption else []
        return '\n'.join([*caption, *links, ''])

    def _plain_prose(self, page: str, text: str) -> str:
        text = _ANCHOR.sub(r'<a id="\2"></a>\1', text)
        text = _CARD.sub(_list_item, _GRID.sub('', text))
        text = _COLON_FENCE.sub('', _TITLED.sub(r'\n**\1**\n\n', text))
        text = _CLASSES.sub('', _SPAN.sub(r'**\1**', text))
        if unknown := _UNKNOWN.search(text):
            raise LookupError(f'{page} has the markup {unknown[0]}.')
        return text

    def _moved(self, page: str, parts: list[str], folder: str) -> Iterator[str]:
        def moved(match: re.Match[str]) -> str:
            target = match['target']
            if target is None or _ABSOLUTE.match(target):
                return match[0]
            path, anchor = self._resolve(page, target)
            return f']({relpath(path, folder) if path else ""}{anchor})'

        for part, is_code in _split_code(''.join(parts)):
            # A removed directive leaves blank lines.
            yield part if is_code else _CODE_OR_LINK.sub(moved, re.sub(r'\n{3,}', '\n\n', part))

    def _resolve(self, page: str, target: str) -> tuple[str, str]:
        """Return the path of a target on the site (empty for the page itself), and its anchor."""
        path, hash_sign, anchor = target.partition('#')
        full = normpath(f'{dirname(page)}/{path}').lstrip('/') if path else f'{page}.md'
        name = re.sub(r'\.(?:md|rst)$', '', full)
        if name in self.texts:
            if anchor and anchor not in anchors_of(self.texts[name]):
                raise LookupError(f'{page} links to {target}, which has no such anchor.')
            return copy_of(name) if path else '', hash_sign + anchor
        if basename(full) in self.pictures:
            return f'_images/{basename(full)}', ''
        raise LookupError(f'{page} links to {target}, which does not exist.')


def copy_of(page: str) -> str:
    """Return the path of the Markdown copy of a page.

    >>> copy_of('guards/retry'), copy_of('tutorial/index'), copy_of('index')
    ('guards/retry/index.md', 'tutorial/index.md', 'index.md')
    """
    return f'{page}.md' if basename(page) == 'index' else f'{page}/index.md'


def title_of(text: str) -> str:
    """Return the text of the first heading, without markup.

    >>> title_of('# The `do` of [steps](steps.md)')
    'The do of steps'
    """
    heading = _HEADING.search(_FRONT_MATTER.sub('', text))
    return _without_markup(heading[1]) if heading is not None else ''


def summary_of(text: str) -> str:
    r"""Return the first sentence of a plain page, and the second if the first is a yes or no.

    >>> summary_of('# Limits\n\nNo. Use\n[`rate_limit`](limits.md). It counts calls.\n')
    'No. Use `rate_limit`.'
    """
    for part, is_code in _split_code(text):
        for block in [] if is_code else re.split(r'\n\s*\n', part):
            paragraph = _LINK.sub(r'\1', ' '.join(block.split()))
            sentences = _SENTENCE.findall(paragraph)
            if sentences and not _NO_PARAGRAPH.match(block):
                is_short = sentences[0] in {'Yes.', 'No.'}
                return ''.join(sentences[: 1 + is_short])
    return ''


@cache
def anchors_of(text: str) -> frozenset[str]:
    r"""Return the anchors of a page: those of its headings, as on GitHub, and explicit ones.

    >>> sorted(anchors_of('## Use `do`\n\n## Use `do`\n\n[Arm]{#arm}'))
    ['arm', 'use-do', 'use-do-1']
    """
    anchors = {*_ID.findall(text), *(name for _, name in _ANCHOR.findall(text))}
    anchors.update(match['argument'] for match in _DIRECTIVE.finditer(text))
    counts: Counter[str] = Counter()
    for part, is_code in _split_code(text):
        for heading in [] if is_code else _HEADING.findall(part):
            words = re.sub(r'[^\w\- ]', '', _without_markup(heading).lower())
            slug = words.replace(' ', '-')
            anchors.add(f'{slug}-{counts[slug]}' if slug in counts else slug)
            counts[slug] += 1
    return frozenset(anchors)


def _without_markup(text: str) -> str:
    return re.sub(r'[`*]|\\(?=[_<>*])', '', _LINK.sub(r'\1', text))


def _list_item(card: re.Match[str]) -> str:
    return f'- [{card["title"]}]({card["page"]}.md): {" ".join(card["text"].split())}\n'


def _split_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a page, and whether each is a block of code."""
    end = 0
    for fence in _FENCE.finditer(text):
        yield text[end : fence.start()], False
        yield fence[0], True
        end = fence.end()
    yield text[end:], False
