"""The README on PyPI: a hook of hatchling that gives its links and pictures absolute addresses.

Links of the README are relative, for the forge and for the site. PyPI shows the text at an address
of its own, where they lead nowhere.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_TARGET = re.compile(r'(?P<before>\]\(|\b(?:src|srcset)=")(?P<path>(?![\w+.-]+:|#|/)[^)"#\s]+)')
_PICTURES = ('.png', '.svg')
_PAGE = re.compile(r'docs/(?P<name>.+?)(?:/README|/index)?\.md')


class PyPIReadme(MetadataHookInterface):
    """Set `readme` of the metadata."""

    PLUGIN_NAME = 'custom'

    # A build environment has hatchling only, and `override` is in `typing` from Python 3.12 on.
    def update(self, metadata: dict[str, Any]) -> None:  # type: ignore[explicit-override]
        """Add the README, with the addresses of `[project.urls]` if there are any."""
        text = (Path(self.root) / 'README.md').read_text(encoding='utf-8')
        urls = metadata.get('urls')
        if urls:
            text = with_addresses(text, urls, f'v{metadata["version"]}')
        metadata['readme'] = {'content-type': 'text/markdown', 'text': text}


def with_addresses(text: str, urls: dict[str, str], tag: str) -> str:
    """Return a text whose relative links and pictures have absolute addresses.

    Args:
        text: A page of the root of the repository, as Markdown.
        urls: `[project.urls]`; pages are on the site `Documentation`, other files at `Source`.
        tag: The tag of the release, because later versions can move a file.

    Raises:
        ValueError: One of the two addresses is missing.

    >>> urls = {'Documentation': 'https://docs.example', 'Source': 'https://forge.example/seamwise'}
    >>> with_addresses('[Arm](docs/glossary.md#arm)', urls, 'v1.0.0')
    '[Arm](https://docs.example/glossary/#arm)'
    >>> with_addresses('![Page](docs/page.png)', urls, 'v1.0.0')
    '![Page](https://forge.example/seamwise/raw/v1.0.0/docs/page.png)'
    """
    missing = [name for name in ('Documentation', 'Source') if not urls.get(name)]
    if missing:
        raise ValueError(
            f'[project.urls] in pyproject.toml lacks {" and ".join(missing)}: the links of the '
            'README would lead nowhere on PyPI.'
        )
    site, source = (urls[name].rstrip('/') for name in ('Documentation', 'Source'))

    def absolute(match: re.Match[str]) -> str:
        path = match['path']
        if page := _PAGE.fullmatch(path):
            return f'{match["before"]}{site}/{page["name"]}/'
        view = 'raw' if path.endswith(_PICTURES) else 'blob'
        return f'{match["before"]}{source}/{view}/{tag}/{path}'

    return _TARGET.sub(absolute, text)
