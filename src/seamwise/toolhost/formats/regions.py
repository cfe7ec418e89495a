"""Regions of a text without calls: reasoning, tool responses, comments.

A draft in the reasoning of a model and data in another markup look like calls, but are none.
"""

import re

_THOUGHTS = (
    'think',
    'thinking',
    'thought',
    'thoughts',
    'reasoning',
    'reflection',
    'scratchpad',
    'seed:think',
    'antthinking',
)
_ASIDES = (
    'available_tools',
    'example',
    'examples',
    'function_response',
    'function_result',
    'function_results',
    'observation',
    'tool_output',
    'tool_outputs',
    'tool_response',
    'tool_responses',
    'tool_result',
    'tool_results',
    'tools',
)
# Special tokens of other models, without the character that begins them.
_OTHER_THOUGHTS = {
    '[THINK]': '[/THINK]',
    '◁think▷': '◁/think▷',
    '<|START_THINKING|>': '<|END_THINKING|>',
    '<|begin_of_thought|>': '<|end_of_thought|>',
}
_OTHER_ASIDES = {
    '<!--': '-->',
    '[TOOL_RESULTS]': '[/TOOL_RESULTS]',
    '[AVAILABLE_TOOLS]': '[/AVAILABLE_TOOLS]',
    '<｜tool▁outputs▁begin｜>': '<｜tool▁outputs▁end｜>',
    '<｜tool▁output▁begin｜>': '<｜tool▁output▁end｜>',
    '<|tool_response_start|>': '<|tool_response_end|>',
}
_OTHERS = {**_OTHER_THOUGHTS, **_OTHER_ASIDES}

# The attributes of a tag have no angle brackets.
_ATTRIBUTES = r'(?:\s[^<>]{0,200})?+>'
_NAMES = '|'.join(sorted((*_THOUGHTS, *_ASIDES), key=len, reverse=True))


def _after(character: str, words: dict[str, str] | list[str]) -> str:
    """Return the pattern of what follows the first character of each of some words."""
    return '|'.join(re.escape(word[1:]) for word in words if word[0] == character)


_CLOSINGS = [*_OTHER_THOUGHTS.values()]
OPENINGS = {
    '<': rf'(?i:{_NAMES}){_ATTRIBUTES}|{_after("<", _OTHERS)}',
    '[': _after('[', _OTHERS),
    '◁': _after('◁', _OTHERS),
}
"""By their first character, the patterns of the marks that begin a region."""

CLOSINGS = {
    '<': rf'/(?i:{"|".join(_THOUGHTS)})\s?>|{_after("<", _CLOSINGS)}',
    '[': _after('[', _CLOSINGS),
    '◁': _after('◁', _CLOSINGS),
}
"""By their first character, the patterns of the marks that end reasoning."""

END_OF_REASONING = re.compile(
    '|'.join(f'{re.escape(character)}(?:{words})' for character, words in CLOSINGS.items())
)
"""The end of reasoning that began before the text."""

CLOSING_LIMIT = 32
"""In characters: more than the length of any mark that ends a region."""

_TAG_NAME = re.compile(r'<([a-z_:]+)', re.IGNORECASE)


def closing(mark: str) -> re.Pattern[str]:
    """Return the pattern of the end of the region that a mark begins.

    >>> closing('<Think>').search('no</think >').start()
    2
    """
    if mark in _OTHERS:
        return re.compile(re.escape(_OTHERS[mark]))
    name = _TAG_NAME.match(mark)
    return re.compile(rf'</{re.escape(name[1] if name else "")}\s?>', re.IGNORECASE)


def is_reasoning(mark: str) -> bool:
    """Return whether the region that a mark begins is reasoning."""
    name = _TAG_NAME.match(mark)
    return mark in _OTHER_THOUGHTS or (name is not None and name[1].lower() in _THOUGHTS)
