"""The page of the playground, and links to it below the code of some pages."""

import ast
import base64
import html
import re
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from tools.playground.assets import ROOMS_LEFT_OUT

PLAYGROUND = 'playground'
"""Name of the page."""

TUTORIAL = 'tutorial'

PAGES = ('index', 'errors', 'composition', 'seams')
"""The pages with links, beside those of the tutorial."""

INSTALLED = frozenset({'msgspec', 'returns', 'seamwise', 'typing_extensions'})
"""Packages in the playground, beside the standard library."""

_FILE = re.compile(r'`(\w+)\.py`:\n\n```python\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def add_try_it(app: Sphinx) -> None:
    """Register the links and the template of the playground."""
    app.connect('html-page-context', _choose_template)
    app.connect('doctree-resolved', _add_links)


def fragment_of(program: str) -> str:
    """Return the fragment of a link that opens a program.

    >>> fragment_of('print(1)')
    '#code=KyjKzCvRMNQEAA'
    """
    compress = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    data = compress.compress(program.encode()) + compress.flush()
    return f'#code={base64.urlsafe_b64encode(data).decode().rstrip("=")}'


def runs_in_browser(program: str) -> bool:
    """Return whether all imports of a program exist in the playground.

    >>> runs_in_browser('from seamwise.seams import http'), runs_in_browser('import fastapi')
    (True, False)
    """
    for name in _imported(ast.parse(program)):
        root, _, rest = name.partition('.')
        is_left_out = root == 'seamwise' and rest.partition('.')[0] in ROOMS_LEFT_OUT
        if is_left_out or root not in INSTALLED | sys.stdlib_module_names:
            return False
    return True


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f'{node.module}.{alias.name}' for alias in node.names)


def _choose_template(
    _app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object
) -> str | None:
    if page != PLAYGROUND:
        return None
    # The bar of the page has the heading.
    context['body'] = re.sub(r'(</?)h1\b', r'\1h2', context['body'])
    return 'playground.html'


def _add_links(app: Sphinx, doctree: nodes.document, page: str) -> None:
    if (
        app.builder.format != 'html'
        or page.partition('/')[0] not in PAGES
        or page.startswith('seams/')
    ):
        return
    blocks = [
        block for block in doctree.findall(nodes.literal_block) if block.get('language') == 'python'
    ]
    texts = [f'{block.astext()}\n' for block in blocks]
    if page.startswith(TUTORIAL):
        programs = tutorial_programs(Path(app.srcdir, TUTORIAL), Path(page).name, texts)
    else:
        programs = page_programs(texts)
    address = app.builder.get_relative_uri(page, PLAYGROUND)
    for block, program in zip(blocks, programs, strict=True):
        if program is not None:
            href = html.escape(f'{address}{fragment_of(program)}')
            link = f'<p class="try-it"><a href="{href}">Try it</a></p>'
            block.parent.insert(block.parent.index(block) + 1, nodes.raw('', link, format='html'))


def page_programs(blocks: Sequence[str]) -> list[str | None]:
    r"""Return the program of each block of a page: it uses the names of those before it.

    >>> page_programs(['a = 1\n', 'import click\n', 'print(a)\n'])
    ['a = 1\n', None, 'a = 1\n\n\nprint(a)\n']
    """
    programs: list[str | None] = []
    before = ''
    for block in blocks:
        if runs_in_browser(block):
            before = f'{before}\n\n{block}'.lstrip('\n')
            programs.append(before)
        else:
            programs.append(None)
    return programs


def tutorial_programs(folder: Path, page: str, blocks: Sequence[str]) -> list[str | None]:
    """Return the program of each block of a tutorial page, with the files that it imports."""
    files: dict[str, str] = {}
    names: dict[str, str] = {}
    for path in sorted(folder.glob('0*.md')):
        for name, text in _FILE.findall(path.read_text(encoding='utf-8')):
            if path.stem == page:
                names[text] = name
            if path.stem != page or name not in files:
                files[name] = text
        if path.stem == page:
            break
    programs: list[str | None] = []
    for block in blocks:
        name = names.get(block)
        program = None if name is None else '\n\n'.join(inlined(name, {**files, name: block}))
        programs.append(program if program and runs_in_browser(program) else None)
    return programs


def inlined(name: str, files: Mapping[str, str], done: set[str] | None = None) -> list[str]:
    r"""Return a file without its imports of other files, after those files, as texts.

    >>> inlined('b', {'a': 'one = 1\n', 'b': 'from a import one\nprint(one)\n'})
    ['one = 1\n', 'print(one)\n']
    """
    done = set() if done is None else done
    done.add(name)
    lines = files[name].splitlines(keepends=True)
    texts: list[str] = []
    for node in reversed(ast.parse(files[name]).body):
        if isinstance(node, ast.ImportFrom) and node.module and node.module in files:
            del lines[node.lineno - 1 : node.end_lineno]
            if node.module not in done:
                texts = [*inlined(node.module, files, done), *texts]
    return [*texts, ''.join(lines).lstrip('\n')]
