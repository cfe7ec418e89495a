"""Tags of tools with a tag for each parameter, whose values have no type of their own.

Qwen3-Coder: `<tool_call><function=add><parameter=a>1</parameter></function></tool_call>`, and
Llama 3.1 with an object in `<function=add>`. GLM 4.5: `<tool_call>add`, then `<arg_key>` and
`<arg_value>`. Claude, MiniMax M2 and DeepSeek V3.2: `<invoke name="add">`, then
`<parameter name="a">`. Cline and Roo: a tag with the name of the tool.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from seamwise._results.containers import Failure, Result, Success
from seamwise.toolhost.formats.entries import (
    BrokenCall,
    Entry,
    decode_text,
    is_object,
    read_in_text,
)
from seamwise.toolhost.formats.json_text import break_reason, read_json
from seamwise.toolhost.formats.marks import TextReading, skip_space
from seamwise.toolhost.formats.reply import Reply

CLINE_TOOLS = frozenset(
    {
        *('access_mcp_resource', 'apply_diff', 'ask_followup_question', 'attempt_completion'),
        *('browser_action', 'codebase_search', 'condense', 'execute_command', 'fetch_instructions'),
        *('insert_content', 'list_code_definition_names', 'list_files', 'new_rule', 'new_task'),
        *('plan_mode_respond', 'read_file', 'replace_in_file', 'search_and_replace'),
        *('search_files', 'switch_mode', 'update_todo_list', 'use_mcp_tool', 'write_file'),
        'write_to_file',
    }
)
"""The tools of Cline and of Roo Code, which name their tags."""


class Grammar(NamedTuple):
    """The grammar of a tag.

    Attributes:
        format: The name of the format.
        begin: The pattern of the beginning of the tag.
        opening: The pattern of the whole tag, with the group `name`.
        parameter: The pattern of the tag of a parameter, with the group `key`, and `is_text` if
            the tag says whether its value is a text.
        value_end: The end of a value; `{key}` stands for the key.
        closing: The end of the tag.
        nested: The pattern of what a value cannot contain, because an end in it would be its own;
            `{key}` stands for the key.
        json_format: The format of a tag with an object in place of parameters, or None.
        is_trimmed: Whether the first and the last line end of a value are no part of it.
    """

    format: str
    begin: str
    opening: re.Pattern[str]
    parameter: re.Pattern[str]
    value_end: str
    closing: str
    nested: str
    json_format: str | None = None
    is_trimmed: bool = False


_WRAPPER, _WRAPPER_END = '<tool_call>', '</tool_call>'

QWEN = Grammar(
    format='qwen',
    begin='<function=',
    opening=re.compile(r'<function=[ \t]*+(?P<name>[^\s<>={}"]++)[ \t]*+>'),
    parameter=re.compile(r'<parameter=[ \t]*+(?P<key>[^\s<>={}"]++)[ \t]*+>'),
    value_end='</parameter>',
    closing='</function>',
    nested='<(?:parameter|function)=',
    # Llama 3.1 writes an object.
    json_format='llama',
    is_trimmed=True,
)
GLM = Grammar(
    format='glm',
    begin=_WRAPPER,
    opening=re.compile(
        r'<tool_call>\s*+(?P<name>[^\s<>{}\[\]"]++)(?=\s*+<(?:arg_key|/tool_call)>)'
    ),
    parameter=re.compile(r'<arg_key>(?P<key>[^<>]*+)</arg_key>\s*+<arg_value>'),
    value_end='</arg_value>',
    closing=_WRAPPER_END,
    nested='<(?:tool_call|arg_key|arg_value)>',
)
_ATTRIBUTES = r'(?:\s++[\w:-]++="[^"<>]*+")*+\s*+'


def _invoke(prefix: str, format_name: str) -> Grammar:
    attributes = _ATTRIBUTES
    if format_name == 'deepseek':
        attributes = r'\s++string="(?P<is_text>true|false)"\s*+'
    return Grammar(
        format=format_name,
        begin=rf'<{prefix}invoke(?=[\s>])',
        opening=re.compile(rf'<{prefix}invoke\s++name="(?P<name>[^"<>]*+)"{_ATTRIBUTES}>'),
        parameter=re.compile(rf'<{prefix}parameter\s++name="(?P<key>[^"<>]*+)"{attributes}>'),
        value_end=f'</{prefix}parameter>',
        closing=f'</{prefix}invoke>',
        nested=rf'<{prefix}(?:parameter|invoke)[\s>]',
        # DeepSeek V3.2 can write an object, also in tags without its prefix.
        json_format='deepseek',
    )


# The namespace of Claude's own tags.
_PREFIX = 'antml:'

CLAUDE = _invoke('', 'invoke')
CLAUDE_PREFIXED = _invoke(_PREFIX, 'invoke')
MINIMAX = _invoke('', 'minimax')
DEEPSEEK = _invoke('｜DSML｜', 'deepseek')

_FUNCTION_IN_WRAPPER = re.compile(r'<tool_call>[\s\u200b-\u200d\u2060\ufeff]*+(?=<(?i:function)=)')
_EMPTY_TAG = re.compile(r'[^<>]*+(?<=/)>')
_LINE_ENDS = re.compile(r'\A\r?\n|\r?\n\Z')
# A function is complete without the end of its wrapper, which can be a stop sequence.
_AFTER_FUNCTION = ('<tool_call>', '<function=', _WRAPPER_END)


@lru_cache(maxsize=256)
def _cline(tool: str) -> Grammar:
    return Grammar(
        format='cline',
        begin=rf'<{re.escape(tool)}(?=[\s/>])',
        opening=re.compile(f'<(?P<name>{re.escape(tool)})>'),
        parameter=re.compile(r'<(?P<key>[A-Za-z_]\w*+)>'),
        value_end='</{key}>',
        closing=f'</{tool}>',
        nested=f'<(?:{re.escape(tool)}|{{key}})>',
        is_trimmed=True,
    )


class _Content(NamedTuple):
    """The content of a tag.

    Attributes:
        arguments: The arguments.
        position: The position after them, or that of the problem.
        problem: The reason why the content cannot be read, or ''.
        is_unclosed: Whether a value has no end.
    """

    arguments: dict[str, object]
    position: int
    problem: str = ''
    is_unclosed: bool = False


def grammar_of(text: str, start: int) -> Grammar | None:
    """Return the grammar of a `<tool_call>` that contains no JSON, or None.

    Args:
        text: The text.
        start: The position of the tag.
    """
    if _FUNCTION_IN_WRAPPER.match(text, start):
        return QWEN
    return GLM if GLM.opening.match(text, start) else None


def read_invoke(text: str, start: int, *, is_minimax: bool) -> TextReading:
    """Read an `<invoke>`.

    Args:
        text: The text.
        start: The position of the tag.
        is_minimax: Whether the text has the wrapper of MiniMax.
    """
    if text.startswith(f'<{_PREFIX}', start):
        return read(text, start, CLAUDE_PREFIXED)
    if text.startswith('<｜', start):
        return read(text, start, DEEPSEEK)
    return read(text, start, MINIMAX if is_minimax else CLAUDE)


def read_cline(text: str, start: int, end: int) -> TextReading:
    """Read the tag of a tool; in prose, no other tag follows it. One with attributes is broken.

    Args:
        text: The text.
        start: The position of the tag.
        end: The end of the tag.
    """
    grammar = _cline(text[start + 1 : end].removesuffix('>'))
    if text[end - 1] != '>':
        if empty := _EMPTY_TAG.match(text, end):
            problem, span = 'the tag has no content', (start, empty.end())
            failure = BrokenCall('cline', problem, text, span, position=end)
            return TextReading(empty.end(), [failure], is_settled=True)
        return read(text, start, grammar)
    position = skip_space(text, end)
    if not text.startswith('<', position):
        return TextReading(end, [], is_settled=position < len(text))
    return read(text, start, grammar)


def read(text: str, start: int, grammar: Grammar) -> TextReading:
    """Read the tag of a tool.

    Args:
        text: The text.
        start: The position of the tag or of its wrapper.
        grammar: The grammar of the tag.
    """
    wrapper = _FUNCTION_IN_WRAPPER.match(text, start) if grammar is QWEN else None
    opening = grammar.opening.match(text, wrapper.end() if wrapper else start)
    if opening is None:
        content = _Content({}, start, 'the tag is broken or cut off')
        return _broken(text, start, content, grammar, Entry(grammar.format, ()))
    position = skip_space(text, opening.end())
    is_json = grammar.json_format is not None and text.startswith('{', position)
    content = (_read_object if is_json else _read_parameters)(text, position, grammar)
    format_name = grammar.json_format if is_json else None
    entry = Entry(format_name or grammar.format, (), opening['name'], content.arguments)
    if not content.problem and not text.startswith(grammar.closing, content.position):
        content = content._replace(problem='there is more than parameters in the tag')
    if content.problem:
        return _broken(text, start, content, grammar, entry)
    stop = content.position + len(grammar.closing)
    if not wrapper:
        return TextReading(stop, [read_in_text(entry, text, (start, stop))], is_settled=True)
    end = skip_space(text, stop)
    is_settled = text.startswith(_AFTER_FUNCTION, end)
    if text.startswith(_WRAPPER_END, end):
        stop = end + len(_WRAPPER_END)
    elif not is_settled and not any(token.startswith(text[end:]) for token in _AFTER_FUNCTION):
        content = _Content({}, stop, 'there is more than a function in the tag')
        return _broken(text, start, content, grammar, entry)
    return TextReading(stop, [read_in_text(entry, text, (start, stop))], is_settled)


def _read_object(text: str, position: int, grammar: Grammar) -> _Content:  # noqa: ARG001 -- as its twin
    value, stop, is_whole = read_json(text, position)
    if type(value) is Failure:
        # The decoder has the reason for a whole object already.
        reason = (
            value.failure() if is_whole else break_reason(text, position, stop, value.failure())
        )
        return _Content({}, stop, f'the JSON is broken: {reason}')
    arguments = value.unwrap()
    return _Content(arguments if is_object(arguments) else {}, skip_space(text, stop))


def _read_parameters(text: str, position: int, grammar: Grammar) -> _Content:
    arguments: dict[str, object] = {}
    while parameter := grammar.parameter.match(text, position):
        key = parameter['key'].strip()
        value_end = grammar.value_end.format(key=key)
        stop = text.find(value_end, parameter.end())
        if stop < 0:
            return _Content({}, parameter.start(), 'a value is not closed', is_unclosed=True)
        value = _read_value(text[parameter.end() : stop], parameter, grammar)
        if type(value) is Failure:
            return _Content({}, stop, value.failure())
        if key in arguments:
            return _Content({}, stop, f'the parameter {key!r} is there twice')
        arguments[key] = value.unwrap()
        position = skip_space(text, stop + len(value_end))
    return _Content(arguments, position)


def _read_value(raw: str, parameter: re.Match[str], grammar: Grammar) -> Result[object, str]:
    if re.search(grammar.nested.format(key=parameter['key']), raw):
        return Failure('a value contains a tag of the format')
    if parameter.groupdict().get('is_text') == 'false':
        value = decode_text(raw)
        if type(value) is not Failure:
            return value
        # Some models say of a plain text that it is JSON.
        if raw.lstrip()[:1] not in {'{', '[', '"'}:
            return Success(raw)
        return Failure(f'a value is not JSON: {value.failure()}')
    return Success(_LINE_ENDS.sub('', raw) if grammar.is_trimmed else raw)


def _broken(
    text: str, start: int, content: _Content, grammar: Grammar, entry: Entry
) -> TextReading:
    """Return the failure of a tag, which ends with the tags in it, or with the text.

    Args:
        text: The text.
        start: The start of the tag or of its wrapper.
        content: The content, with its problem.
        grammar: The grammar of the tag.
        entry: The parts of the call.
    """
    stop = None if content.is_unclosed else _balanced_end(text, start, content.position, grammar)
    is_settled = stop is not None
    if stop is not None and grammar is QWEN and text.startswith(_WRAPPER, start):
        end = skip_space(text, stop)
        is_settled = not _WRAPPER_END.startswith(text[end : end + len(_WRAPPER_END) - 1])
        if text.startswith(_WRAPPER_END, end):
            stop, is_settled = end + len(_WRAPPER_END), True
    tool = entry.tool if isinstance(entry.tool, str) else None
    end = len(text) if stop is None else stop
    failure = BrokenCall(
        entry.format, content.problem, text, (start, end), position=content.position, tool=tool
    )
    return TextReading(end, [failure], is_settled)


def _balanced_end(text: str, start: int, position: int, grammar: Grammar) -> int | None:
    """Return the position behind the tags that begin at `start`, at least `position`, or None."""
    depth = 0
    # Tags in capitals are none of the format, but end with such tags.
    tokens = re.compile(rf'(?P<begin>{grammar.begin})|{re.escape(grammar.closing)}', re.IGNORECASE)
    for token in tokens.finditer(text, start):
        depth += 1 if token['begin'] else -1
        if depth <= 0 and token.end() >= position:
            return token.end()
    return None


def answer_invoke(reply: Reply) -> str:
    """Return the results that answer a call of Claude."""
    if reply.is_error:
        return f'<function_results>\n<error>\n{reply.text}\n</error>\n</function_results>'
    return (
        f'<function_results>\n<result>\n<tool_name>{reply.tool}</tool_name>\n'
        f'<stdout>\n{reply.text}\n</stdout>\n</result>\n</function_results>'
    )


def answer_minimax(reply: Reply) -> str:
    """Return the response that answers a call."""
    return f'<response>{reply.text}</response>'


def answer_cline(reply: Reply) -> str:
    """Return the text that answers a call."""
    return f'[{reply.tool}] Result:\n{reply.text}'
