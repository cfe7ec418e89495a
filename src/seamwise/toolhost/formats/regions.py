"""Regions of a text without calls: reasoning, tool responses, comments, turns of others.

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
    'antml:thinking',
    'mm:think',
    'inner_monologue',
    'internal_monologue',
)
_ASIDES = (
    'analysis',
    'available_tools',
    'blockquote',
    'code',
    'document',
    'documents',
    'example',
    'examples',
    'file_content',
    'file_contents',
    'function_call_output',
    'function_output',
    'function_outputs',
    'function_response',
    'function_result',
    'function_results',
    'internal',
    'observation',
    'plan',
    'planning',
    'pre',
    'result',
    'results',
    'samp',
    'stderr',
    'stdout',
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
    '<unused94>thought': '<unused95>',
}
_OTHER_ASIDES = {
    '<!--': '-->',
    '<![CDATA[': ']]>',
    '[INST]': '[/INST]',
    '[TOOL_RESULTS]': '[/TOOL_RESULTS]',
    '[AVAILABLE_TOOLS]': '[/AVAILABLE_TOOLS]',
    '<｜tool▁outputs▁begin｜>': '<｜tool▁outputs▁end｜>',
    '<｜tool▁output▁begin｜>': '<｜tool▁output▁end｜>',
    '<|tool_response_start|>': '<|tool_response_end|>',
}
_OTHERS = {**_OTHER_THOUGHTS, **_OTHER_ASIDES}

# The turn of a user or of a tool, which a model only imagines, and the beginning of its own turn.
_ROLES = '(?:user|system|developer|tool|function|ipython|environment|observation)'
_TURNS = {
    rf'<\|im_start\|>{_ROLES}': r'<\|im_end\|>|<\|im_start\|>assistant',
    rf'<\|start_header_id\|>{_ROLES}<\|end_header_id\|>': (
        r'<\|eot_id\|>|<\|start_header_id\|>assistant<\|end_header_id\|>'
    ),
    rf'<start_of_turn>{_ROLES}': r'<end_of_turn>|<start_of_turn>model',
    rf'<\|{_ROLES}\|>': r'<\|(?:assistant|end|im_end)\|>',
    rf'<\|im_{_ROLES}\|>': r'<\|im_(?:end|assistant)\|>',
    r'<｜User｜>': '<｜Assistant｜>',
}

# The attributes of a tag have no angle brackets.
_ATTRIBUTES = r'(?:\s[^<>]{0,200})?+>'
_NAMES = '|'.join(sorted((*_THOUGHTS, *_ASIDES), key=len, reverse=True))


def _after(character: str, words: dict[str, str] | list[str]) -> str:
    """Return the pattern of what follows the first character of each of some words."""
    return '|'.join(re.escape(word[1:]) for word in words if word[0] == character)


_CLOSINGS = [*_OTHER_THOUGHTS.values()]
OPENINGS = {
    # The first lookahead is for the speed of texts with many angle brackets.
    '<': (
        rf'(?=[a-zA-Z|｜!])(?:(?i:{_NAMES}){_ATTRIBUTES}|{_after("<", _OTHERS)}|'
        + '|'.join(opening[1:] for opening in _TURNS)
        + ')'
    ),
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

CLOSING_LIMIT = 48
"""In characters: more than the length of any mark that ends a region."""

_TAG_NAME = re.compile(r'<([a-z_:]+)', re.IGNORECASE)


def closing(mark: str) -> re.Pattern[str]:
    """Return the pattern of the end of the region that a mark begins.

    >>> closing('<Think>').search('no</think >').start()
    2
    """
    if mark in _OTHERS:
        return re.compile(re.escape(_OTHERS[mark]))
    for opening, end in _TURNS.items():
        if re.fullmatch(opening, mark):
            return re.compile(end)
    name = _TAG_NAME.match(mark)
    return re.compile(rf'</{re.escape(name[1] if name else "")}\s?>', re.IGNORECASE)


def is_reasoning(mark: str) -> bool:
    """Return whether the region that a mark begins is reasoning."""
    name = _TAG_NAME.match(mark)
    return mark in _OTHER_THOUGHTS or (name is not None and name[1].lower() in _THOUGHTS)
