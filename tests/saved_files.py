"""Files that a page of the documentation asks to save, because its snippets import them."""

import re
from pathlib import Path

# The language is `py`, because blocks in `python` run in the module of the page.
FILE = re.compile(
    r'[Ss]ave this as `(\w+\.py)`[^\n]*\n\n```py\n(.*?)^```$', re.MULTILINE | re.DOTALL
)


def save_files(page: str, folder: Path) -> list[str]:
    """Write the files of a page to a folder, and return their names."""
    files = FILE.findall(page)
    for name, content in files:
        (folder / name).write_text(content, encoding='utf-8')
    return [name for name, _ in files]
