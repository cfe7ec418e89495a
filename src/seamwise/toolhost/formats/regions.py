"""Regions of a text without calls: reasoning, tool responses, comments, turns of others.

A draft in the reasoning of a model and data in another markup look like calls, but are none. An
element that is not known here is a region if its end follows.
"""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from seamwise.toolhost.formats.entries import ParsedCall

_THOUGHTS = (
    'think',
    'thinking',
    'thinking_process',
    'chain_of_thought',
    'draft',
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
    'arg_value',
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
    'output',
    'outputs',
    'parameter',
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
    '[THINKING]': '[/THINKING]',
    '[REASONING]': '[/REASONING]',
    '◁think▷': '◁/think▷',
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
}
_OTHERS = {**_OTHER_THOUGHTS, **_OTHER_ASIDES}

# The turn of a user or of a tool, which a model only imagines, and the beginning of its own turn.
_ROLES = r'[ ]?(?i:user|human|system|developer|tool|function|ipython|environment|observation)'
_TURNS = {
    rf'<\|im_start\|>{_ROLES}': r'<\|im_end\|>|<\|im_start\|>assistant',
    rf'<\|start_header_id\|>{_ROLES}[ ]?<\|end_header_id\|>': (
        r'<\|eot_id\|>|<\|start_header_id\|>assistant<\|end_header_id\|>'
    ),
    rf'<\|start_of_role\|>{_ROLES}': r'<\|end_of_text\|>|<\|start_of_role\|>assistant',
    r'<\|(?:USER|SYSTEM)_TOKEN\|>': r'<\|(?:END_OF_TURN|CHATBOT)_TOKEN\|>',
    rf'\[\|{_ROLES}\|\]': r'\[\|(?:assistant|endofturn)\|\]',
    rf'<start_of_turn>{_ROLES}': r'<end_of_turn>|<start_of_turn>model',
    rf'<\|{_ROLES}\|>': r'<\|(?:assistant|end|im_end)\|>',
    rf'<\|im_{_ROLES}\|>': r'<\|im_(?:end|assistant)\|>',
    r'<｜User｜>': '<｜Assistant｜>',
}

_NAMES = '|'.join(sorted((*_THOUGHTS, *_ASIDES), key=len, reverse=True))

# Models invent special tokens with these names, such as `<|think|>` and `<|begin_of_thought|>`.
_INVENTED = r'[|｜](?:(?:begin|start)_(?:of_)?+)?+'

# Elements and tokens without an end of their own, and those around the calls of a dialect.
_OTHER_ELEMENTS = re.compile(
    r'/?+(?:br|hr|img|input|wbr|calls?|actions?|answer)'
    r'|\|(?:\w*_(?:start|end|id|sep|text|token)|assistant|call|end|endoftext|eos|eot|message)\|'
    r'|/?+\|?+/?+(?:[\w.-]++[:|])?+\w*?(?:tool|function)_?(?:calls?|use)\|?+'
)
# The elements of ordinary pages, and those without an end.
_PAGE_ELEMENTS = (
    r'(?:[abipqsu]|[dou]l|d[dt]|li|t[dhr]|h[1-6]|em|div|span|strong|small|su[bp]|table|caption'
    r'|t(?:head|body|foot)|section|article|header|footer|nav|main|label|button|title|option)'
)
_PAGE_VOIDS = r'(?:br|hr|img|wbr)'
_PAGE_ATTRIBUTES = r'(?:\s[^<>]{0,200}+(?<!/))?+>'
# No mark begins in such a text: the marks at the start of a line have other characters.
_PAGE_TEXT = (
    r'[^<>{\[`~◁&\n]++|&(?!lt;)|\n[ \t]*+(?=[^AFHOTU>#*$@\s])'
    rf'|<{_PAGE_VOIDS}(?:/|\s[^<>]{{0,200}}+)?+>'
)
_PAGE_DEPTH = 3

# Characters without a width can be in a tag, and blanks behind the slash of one.
_IGNORED = r'[\u200b-\u200d\u2060\ufeff]'
_BLANKS = r'[\s\u200b-\u200d\u2060\ufeff]{0,4}+'
_IGNORED_OR_BLANK = re.compile(rf'{_IGNORED}|\s')
_WORD = r'(?:[|｜]\w{1,16}+[|｜])?+[^\W\d][\w:.-]{0,60}+'
TAG_NAME = rf'(?:{_IGNORED}|/{_BLANKS})?+{_WORD}|[ ]{{1,2}}+{_WORD}(?==|>|\s++[\w:.-]++=)'
"""The pattern of the name of a tag, perhaps with blanks before it as some models write it."""

_VALUE = r'(?:=[^\s<>&]{0,100}+)?+'
TAG = (
    rf'(?:(?P<name>{TAG_NAME}|[|｜]/?+[a-zA-Z]\w{{0,58}}+[|｜])'
    rf'{_VALUE}{_IGNORED}?+(?:>|(?<![|｜])\s[^<>]{{0,200}}+>))'
)
"""The pattern of a tag or a token of any `name`, after its first character."""

ESCAPED_TAG = rf'lt;(?P<escaped>/?+{_WORD}){_VALUE}(?:\s[^<>\n]{{0,200}}?)?&gt;'
"""The pattern of an escaped tag, which only shows one, after its first character."""

LABEL = rf'(?P<label>/?+(?=[a-zA-Z_:]{{3,30}}\])(?i:{_NAMES}|quote))\]'
"""The pattern of the name of a region in brackets, after its first character."""


def _after(character: str, words: dict[str, str] | list[str]) -> str:
    """Return the pattern of what follows the first character of each of some words."""
    return '|'.join(re.escape(word[1:]) for word in words if word[0] == character)


def _token_end(names: str) -> str:
    """Return the pattern of the end of a special token, without angle brackets."""
    return rf'(?:(?:\|/|/\||\|end_(?:of_)?+)(?:{names})|\|(?:{names})_end)\|'


_CLOSINGS = [*_OTHER_THOUGHTS.values()]
_THOUGHT_NAMES = '|'.join(_THOUGHTS)
_OPENING_TAG = re.compile(rf'(?:{_NAMES})|{_INVENTED}(?:{_NAMES})(?:_start|_begin)?+\|')
_CLOSING_TAG = re.compile(rf'/(?:{_THOUGHT_NAMES})|{_token_end(_THOUGHT_NAMES)}')
OPENINGS = {
    # The first lookahead is for the speed of texts with many angle brackets.
    '<': (
        rf'(?=[us|｜!])(?:{_after("<", _OTHERS)}|'
        + '|'.join(opening[1:] for opening in _TURNS if opening[0] == '<')
        + ')'
    ),
    '[': '|'.join(
        [_after('[', _OTHERS), *(opening[2:] for opening in _TURNS if opening[0] != '<')]
    ),
    '◁': _after('◁', _OTHERS),
}
"""By their first character, the patterns of the marks that begin a region, without tags."""

CLOSINGS = {character: _after(character, _CLOSINGS) for character in OPENINGS}
"""By their first character, the patterns of the marks that end reasoning, without tags."""

END_OF_REASONING = re.compile(
    rf'<(?i:/{_BLANKS}(?:{_THOUGHT_NAMES}){_BLANKS}|{_token_end(_THOUGHT_NAMES)})>|'
    + '|'.join(map(re.escape, _CLOSINGS))
)
"""The end of reasoning that began before the text."""

END_OF_CODE = re.compile(r'(?=\n {0,3}[^ \t\r\n])')
"""The end of code by indentation: a line at the margin."""

CLOSING_LIMIT = 48
"""In characters: more than the length of any mark that ends a region."""

_NAME = re.compile(rf'<(?P<token>{_INVENTED})?+(?P<name>{_NAMES})', re.IGNORECASE)


def page(tools: frozenset[str]) -> str:
    """Return the pattern of elements of a page that contain no mark, after their first character.

    They change nothing, so they are skipped at once: a page has ten tags in a line.

    Args:
        tools: The names of the tools that have tags of their own.
    """
    if any(re.fullmatch(f'{_PAGE_ELEMENTS}|{_PAGE_VOIDS}', tool) for tool in tools):
        return '(?!)'
    element = '(?!)'
    for level in range(_PAGE_DEPTH):
        name, content = f'page{level}', f'(?:{_PAGE_TEXT}|<{element})*+'
        element = f'(?P<{name}>{_PAGE_ELEMENTS}){_PAGE_ATTRIBUTES}{content}</(?P={name})>'
    return f'(?:(?:(?<=<)|(?<!<)(?:{_PAGE_TEXT})*+<){element})++'


@lru_cache(maxsize=256)
def closing(mark: str) -> re.Pattern[str]:
    """Return the pattern of the end of the region that a mark without attributes begins.

    >>> closing('<Think>').search('no</think >').start()
    2
    """
    if mark in _OTHERS:
        return re.compile(re.escape(_OTHERS[mark]))
    for opening, end in _TURNS.items():
        if re.fullmatch(opening, mark):
            return re.compile(end)
    token, name = _token_and_name(mark)
    end = _token_end(name) if token else rf'/{_BLANKS}{name}{_BLANKS}'
    return re.compile(f'<{end}>', re.IGNORECASE)


@lru_cache(maxsize=256)
def is_reasoning(mark: str) -> bool:
    """Return whether the region that a mark without attributes begins is reasoning."""
    is_tag = _OPENING_TAG.fullmatch(tag_name(mark)) is not None
    return mark in _OTHER_THOUGHTS or (is_tag and _token_and_name(mark)[1] in _THOUGHTS)


def _token_and_name(mark: str) -> tuple[str, str]:
    match = _NAME.match(mark)
    return (match['token'] or '', match['name'].lower()) if match else ('', '')


def tag_name(tag: str) -> str:
    """Return the name of a tag in lower case, with the slash of an end and the bars of a token."""
    return plain_name(tag[1:-1].split(maxsplit=1)[0])


def plain_name(name: str) -> str:
    """Return a name in lower case, without blanks and characters that have no width."""
    return _IGNORED_OR_BLANK.sub('', name).lower().replace('｜', '|')


class Tag(NamedTuple):
    """A tag or a token.

    Attributes:
        name: Its name in lower case, without the slash of an end and the bars of a token.
        kind: Its kind.
        is_end: Whether it is an end.
    """

    name: str
    kind: Literal['region', 'close', 'element', 'other']
    is_end: bool


@lru_cache(maxsize=256)
def tag_of(name: str) -> Tag:
    """Return the tag of a name.

    >>> [tag_of(name).kind for name in ('think', '|end_thinking|', '/Output', 'b', 'my:tool_call')]
    ['region', 'close', 'element', 'element', 'other']
    """
    name = plain_name(name)
    inner = name.replace('|', '')
    if name[0] in '&[':
        return Tag(inner.replace('/', '', 1), 'element', inner[1] == '/')
    is_other = _OTHER_ELEMENTS.fullmatch(name)
    kind: Literal['region', 'close', 'element', 'other'] = 'other' if is_other else 'element'
    if _OPENING_TAG.fullmatch(name):
        kind = 'region'
    elif _CLOSING_TAG.fullmatch(name):
        kind = 'close'
    return Tag(inner.removeprefix('/'), kind, inner.startswith('/'))


class Elements:
    """The unknown elements around a position, and the number of calls before each.

    An element without an end is none: only its end shows that the calls in it are its data.
    """

    def __init__(self) -> None:
        self._open: list[tuple[str, int]] = []
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, name: str, calls: list[ParsedCall]) -> None:
        """Add an element, which begins after some calls."""
        self._open.append((name, len(calls)))
        self._numbers[name] = self._numbers.get(name, 0) + 1

    def end(self, name: str, calls: list[ParsedCall]) -> None:
        """Remove an element, which ends, and the calls in it."""
        if not self._numbers.get(name):
            return
        inner = ''
        while inner != name:
            # The elements in it have no end.
            inner, count = self._open.pop()
            self._numbers[inner] -= 1
            del calls[count:]

    def settled_count(self, calls: list[ParsedCall]) -> int:
        """Return the number of calls that are in no element."""
        return self._open[0][1] if self._open else len(calls)

    def forget(self, count: int) -> None:
        """Forget some calls, which are in no element."""
        if count:
            self._open = [(name, before - count) for name, before in self._open]

    def clear(self) -> None:
        """Forget all elements."""
        self._open.clear()
        self._numbers.clear()
