"""Slow reference reader: the calls that a text can be, by the grammar of each dialect alone.

It shares no code with the library. For each dialect it lists every substring that is a call.
"""

import ast
import json
import re
from collections.abc import Iterator
from typing import TypeGuard

Call = tuple[str, dict[str, object]]

_JSON_KEYS = ('arguments', 'args', 'parameters')
_KEY = r'[^\s<>={}"]+'


def _json(text: str) -> dict[str, object] | None:
    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        if len({key for key, _ in items}) < len(items):
            raise ValueError(items)
        return dict(items)

    try:
        value: object = json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
    return value if _is_object(value) else None


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _named(value: dict[str, object]) -> Iterator[Call]:
    names = [value[key] for key in ('name', 'tool') if key in value]
    arguments = [value[key] for key in _JSON_KEYS if key in value]
    if names and isinstance(names[0], str) and len(arguments) <= 1:
        given: object = arguments[0] if arguments else dict[str, object]()
        if isinstance(given, str):
            given = _json(given) if given.strip() else dict[str, object]()
        if _is_object(given):
            yield names[0], given


def _objects(text: str) -> Iterator[dict[str, object]]:
    for start in (match.start() for match in re.finditer(r'\{', text)):
        for end in (match.end() for match in re.finditer(r'\}', text[start:])):
            value = _json(text[start : start + end])
            if value is not None:
                yield value
                break


def _json_calls(text: str) -> Iterator[Call]:
    for value in _objects(text):
        yield from _named(value)
        if 'input' in value or value.get('type') == 'tool_use':
            given = value.get('input', {})
            if _is_object(given) and isinstance(value.get('name'), str):
                yield str(value['name']), given


_WITH_JSON = (
    (
        r'to=(?:functions\.)?([^\s<]+)[^<]*(?:<\|channel\|>[^<]*)?(?:<\|constrain\|>[^<]*)?'
        r'<\|message\|>(.*?)(?:<\|call\|>|<\|end\|>|<\|return\|>|<\|start\|>|\Z)'
    ),
    (
        r'<｜tool▁call▁begin｜>\s*(?:function<｜tool▁sep｜>)?([^\s<>`{]+?)\s*(?:<｜tool▁sep｜>|```json|```)'
        r'(.*?)(?:```\s*)?<｜tool▁call▁end｜>'
    ),
    (
        r'<\|tool_call_begin\|>\s*(?:functions\.)?([^\s<>:]+):\d+\s*<\|tool_call_argument_begin\|>'
        r'(.*?)<\|tool_call_end\|>'
    ),
    r'<function=([^\s<>={}"]+)>(.*?)</function>',
    r'<｜DSML｜invoke name="([^"]*)">(.*?)</｜DSML｜invoke>',
    r'<invoke name="([^"]*)">(.*?)</invoke>',
    r'\[TOOL_CALLS\]\s*([\w.:/-]+)\s*(?:\[ARGS\])?(\{.*?\})',
    r'Action:([^\n]*)\n\s*Action Input:(.*?)(?:\n|\Z)',
    r'Action:([^\n]*)\n\s*Action Input:\s*```(?:json)?\s*(?=\{)(.*?)(?:```|\Z)',
    r'Action:[ \t]*`{1,2}([^\n`]*)`{1,2}[ \t]*\n\s*Action Input:\s*`{0,2}(.*?)(?:\n|\Z)',
    r'<tool name="([^"]*)"\s*(?:args=[\'"](.*?)[\'"])?\s*/>',
)


def _with_json(text: str) -> Iterator[Call]:
    for pattern in _WITH_JSON:
        for match in re.finditer(rf'(?=({pattern}))', text, re.DOTALL):
            tool, raw = match[2].strip(), match[3] or ''
            if not raw.strip():
                yield tool, {}
            # The end may be in a string: every longer one is tried too.
            for end in (found.end() for found in re.finditer(r'\}', text)):
                value = _json(text[match.start(3) : end]) if match[3] else None
                if value is not None:
                    yield tool, value
    for match in re.finditer(r'Action Input:\s*(?:\n|\Z)', text):
        for name in re.findall(r'Action:([^\n]*)\n\s*\Z', text[: match.start()]):
            yield name.strip(), {}


_TAGS = (
    (rf'<function=({_KEY})>', rf'<parameter=({_KEY})>', '</parameter>', '</function>'),
    (r'<tool_call>\s*([^\s<>{}\[\]"]+)', r'<arg_key>([^<>]*)</arg_key>\s*<arg_value>',
     '</arg_value>', '</tool_call>'),
    (r'<invoke name="([^"]*)">', r'<parameter name="([^"]*)">', '</parameter>', '</invoke>'),
    (r'<｜DSML｜invoke name="([^"]*)">',
     r'<｜DSML｜parameter name="([^"]*)" string="(?:true|false)">', '</｜DSML｜parameter>',
     '</｜DSML｜invoke>'),
    (r'<(read_file)>', r'<([A-Za-z_]\w*)>', '</{}>', '</read_file>'),
)  # fmt: skip


def _tagged(text: str) -> Iterator[Call]:
    for opening, parameter, value_end, closing in _TAGS:
        for match in re.finditer(opening, text):
            position, arguments = match.end(), dict[str, object]()
            while True:
                position += len(text[position:]) - len(text[position:].lstrip())
                if text.startswith(closing, position):
                    yield match[1], arguments
                    break
                found = re.compile(parameter).match(text, position)
                if found is None or (key := found[1].strip()) in arguments:
                    break
                value, end, rest = text[found.end() :].partition(value_end.format(key))
                if not end:
                    break
                arguments[key] = value
                position = len(text) - len(rest)


def _python(text: str) -> Iterator[Call]:
    for start in (match.start() for match in re.finditer(r'[A-Za-z_][\w.-]*\s*\(', text)):
        for end in (match.end() for match in re.finditer(r'\)', text[start:])):
            try:
                node = ast.parse(text[start : start + end].strip(), mode='eval').body
            except (SyntaxError, ValueError):
                continue
            if isinstance(node, ast.Call) and not node.args:
                tool = ast.unparse(node.func).removesuffix('.call')
                try:
                    values = {str(item.arg): ast.literal_eval(item.value) for item in node.keywords}
                except ValueError:
                    continue
                yield tool, values


def possible_calls(text: str) -> list[Call]:
    """Return every call that a part of a text is, by the grammar of any dialect."""
    readers = (_json_calls, _with_json, _tagged, _python)
    return [call for reader in readers for call in reader(text)]
