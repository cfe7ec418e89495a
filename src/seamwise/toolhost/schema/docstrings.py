"""Descriptions of a tool and its parameters in a docstring."""

import inspect
import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple


class Descriptions(NamedTuple):
    """The first paragraph of a docstring, and the descriptions of parameters by name."""

    summary: str
    parameters: Mapping[str, str]


_ENTRY: Final = re.compile(r' *(?P<name>\w+)(?: *\([^()]*\))?:(?P<text>(?: .*)?)')
"""`name: text`, `name (type): text`, or the title of a section."""

_FIELD: Final = re.compile(r' *:param(?: [^:]*)? (?P<name>\w+):(?P<text>.*)')
"""`:param name: text` or `:param type name: text`, as Sphinx reads it."""

_NUMPY_ENTRY: Final = re.compile(r'(?P<name>\w+)(?P<text>)(?: *:.*)?')
"""`name : type` in a section whose title is underlined; the text is below it."""

_UNDERLINE: Final = re.compile('-{3,}')

_PARAMETER_SECTIONS: Final = {'', 'args', 'arguments', 'parameters', 'attributes'}


def read_docstring(docstring: str | None, parameters: Collection[str]) -> Descriptions:
    r"""Return the descriptions in a docstring.

    A line `name: text` after the first paragraph, also in a section `Args:`, describes a parameter.
    More indented lines continue its text. The styles of Sphinx and NumPy are read too.

    >>> read_docstring('The forecast.\n\ncity: as people write it', {'city'})
    Descriptions(summary='The forecast.', parameters={'city': 'as people write it'})
    """
    summary, _, rest = inspect.cleandoc(docstring or '').partition('\n\n')
    texts: dict[str, list[str]] = {}
    section, entry, entry_indent = '', list[str](), 0
    pattern, title = _ENTRY, ''
    for line in rest.splitlines():
        indent = len(line) - len(line.lstrip())
        match = _FIELD.fullmatch(line) or pattern.fullmatch(line)
        name = match['name'] if match else ''
        if entry and indent > entry_indent:
            entry.append(line.strip())
        elif _UNDERLINE.fullmatch(line):
            section, entry, pattern = title, [], _NUMPY_ENTRY
        elif match and name in parameters and section in _PARAMETER_SECTIONS:
            entry, entry_indent = [match['text'].strip()], indent
            texts.setdefault(name, entry)
        else:
            entry = []
            if line and indent == 0 and pattern is _ENTRY:
                section = name.lower() if match and not match['text'] else ''
        title = line.lower()
    return Descriptions(
        ' '.join(summary.split()), {name: ' '.join(text).strip() for name, text in texts.items()}
    )
