"""Calls written in every format of a text, and the marks around what is no call."""

import json
from collections.abc import Callable, Mapping

Arguments = Mapping[str, object]
Writer = Callable[[str, Arguments], str]


def _object(tool: str, arguments: Arguments) -> str:
    return json.dumps({'name': tool, 'arguments': arguments}, ensure_ascii=False)


def _python(tool: str, arguments: Arguments) -> str:
    return f'{tool}({", ".join(f"{key}={value!r}" for key, value in arguments.items())})'


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _tags(begin: str, parameter: str, end: str, arguments: Arguments) -> str:
    inner = ''.join(parameter.format(key, _text(value)) for key, value in arguments.items())
    return f'{begin}{inner}{end}'


def _dsml(tool: str, arguments: Arguments) -> str:
    parameters = ''.join(
        f'<｜DSML｜parameter name="{key}" string="{str(isinstance(value, str)).lower()}">'
        f'{_text(value)}</｜DSML｜parameter>\n'
        for key, value in arguments.items()
    )
    return (
        f'<｜DSML｜function_calls>\n<｜DSML｜invoke name="{tool}">\n{parameters}</｜DSML｜invoke>\n'
        '</｜DSML｜function_calls>'
    )


def _qwen(tool: str, arguments: Arguments) -> str:
    return _tags(
        f'<function={tool}>\n', '<parameter={0}>\n{1}\n</parameter>\n', '</function>', arguments
    )


def _invoke(tool: str, arguments: Arguments) -> str:
    return _tags(
        f'<invoke name="{tool}">\n',
        '<parameter name="{0}">{1}</parameter>\n',
        '</invoke>',
        arguments,
    )


JSON_WRITERS: dict[str, Writer] = {
    'bare': _object,
    'hermes': lambda tool, arguments: f'<tool_call>\n{_object(tool, arguments)}\n</tool_call>',
    'mistral': lambda tool, arguments: f'[TOOL_CALLS][{_object(tool, arguments)}]',
    'llama': lambda tool, arguments: f'<|python_tag|>{_object(tool, arguments)}',
    'array': lambda tool, arguments: f'[{_object(tool, arguments)}]',
    'tool_list': lambda tool, arguments: f'{{"tool_calls": [{_object(tool, arguments)}]}}',
}
"""The formats with an object that has a name and arguments."""

WRITERS: dict[str, Writer] = {
    **JSON_WRITERS,
    'fence': lambda tool, arguments: f'```json\n{_object(tool, arguments)}\n```\n',
    'react': lambda tool, arguments: (
        f'Thought: so\nAction: {tool}\nAction Input: {json.dumps(arguments)}\n'
    ),
    'harmony': lambda tool, arguments: (
        f'<|channel|>commentary to=functions.{tool} <|constrain|>json<|message|>'
        f'{json.dumps(arguments)}<|call|>'
    ),
    'harmony in the role': lambda tool, arguments: (
        f'<|start|>assistant to=functions.{tool}<|channel|>commentary json<|message|>'
        f'{json.dumps(arguments)}<|call|>'
    ),
    'deepseek 3': lambda tool, arguments: (
        f'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{tool}\n```json\n'
        f'{json.dumps(arguments)}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
    ),
    'deepseek 3.1': lambda tool, arguments: (
        f'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{tool}<｜tool▁sep｜>'
        f'{json.dumps(arguments)}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
    ),
    'deepseek 3.2': _dsml,
    'deepseek 3.2 with JSON': lambda tool, arguments: (
        f'<｜DSML｜invoke name="{tool}">{json.dumps(arguments)}</｜DSML｜invoke>'
    ),
    'deepseek 3.2 without its prefix': lambda tool, arguments: (
        f'<function_calls>\n<invoke name="{tool}">\n{json.dumps(arguments)}\n</invoke>\n'
        '</function_calls>'
    ),
    'kimi': lambda tool, arguments: (
        f'<|tool_calls_section_begin|><|tool_call_begin|>functions.{tool}:0'
        f'<|tool_call_argument_begin|>{json.dumps(arguments)}<|tool_call_end|>'
        '<|tool_calls_section_end|>'
    ),
    'qwen': lambda tool, arguments: f'<tool_call>\n{_qwen(tool, arguments)}\n</tool_call>',
    'qwen without its wrapper': _qwen,
    'llama with a function': lambda tool, arguments: (
        f'<function={tool}>{json.dumps(arguments)}</function>'
    ),
    'glm': lambda tool, arguments: _tags(
        f'<tool_call>{tool}\n',
        '<arg_key>{0}</arg_key>\n<arg_value>{1}</arg_value>\n',
        '</tool_call>',
        arguments,
    ),
    'pythonic': lambda tool, arguments: f'[{_python(tool, arguments)}]',
    'pythonic of Llama 4': lambda tool, arguments: (
        f'<|python_start|>[{_python(tool, arguments)}]<|python_end|>'
    ),
    'pythonic of LFM2': lambda tool, arguments: (
        f'<|tool_call_start|>[{_python(tool, arguments)}]<|tool_call_end|>'
    ),
    'invoke': lambda tool, arguments: (
        f'<function_calls>\n{_invoke(tool, arguments)}\n</function_calls>'
    ),
    'minimax': lambda tool, arguments: (
        f'<minimax:tool_call>\n{_invoke(tool, arguments)}\n</minimax:tool_call>'
    ),
    'cline': lambda tool, arguments: _tags(
        f'<{tool}>\n', '<{0}>\n{1}\n</{0}>\n', f'</{tool}>', arguments
    ),
}
"""By the format or a variant of it, a call."""

REASONING = (
    '<think>{}</think>',
    '<think>\n{}\n</think>',
    '<Thinking>{}</Thinking>',
    '<reasoning>{}</reasoning>',
    '<thought>{}</thought>',
    '<seed:think>{}</seed:think>',
    '[THINK]{}[/THINK]',
    '◁think▷{}◁/think▷',
    '<|START_THINKING|>{}<|END_THINKING|>',
    '<|channel|>analysis<|message|>{}<|end|>',
    '<antml:thinking>{}</antml:thinking>',
    '<inner_monologue>{}</inner_monologue>',
    '<unused94>thought\n{}<unused95>',
    '<think>{}',
    'So: {}</think>',
    '{}[/THINK]',
)
"""Reasoning, also without its end or its beginning."""

ASIDES = (
    '<tool_response>\n{}\n</tool_response>',
    '<tool_result id="1">{}</tool_result>',
    '<function_results>{}</function_results>',
    '<tools>{}</tools>',
    '[TOOL_RESULTS]{}[/TOOL_RESULTS]',
    '<｜tool▁outputs▁begin｜>{}<｜tool▁outputs▁end｜>',
    '<!-- {} -->',
    '<!-- {}',
    '<|start|>functions.x to=assistant<|channel|>commentary<|message|>{}<|end|>',
    '<|channel|>final<|message|>{}<|return|>',
    '<![CDATA[{}]]>',
    '<pre>{}</pre>',
    '<document index="1">{}</document>',
    '<plan>\n{}\n</plan>',
    '<function_output>{}</function_output>',
    '[INST]{}[/INST]',
    '<|im_end|>\n<|im_start|>user\n{}<|im_end|>',
    '<|im_start|>tool\n{}<|im_start|>assistant\n',
    '<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n{}<|eot_id|>',
    '<end_of_turn>\n<start_of_turn>user\n{}',
    '<|user|>\n{}<|assistant|>',
    '<|im_user|>user<|im_middle|>{}<|im_end|>',
    '<｜User｜>{}<｜Assistant｜>',
    'Final Answer: {}',
    'Thought: done\nFinal Answer: so\n{}',
    'So.\n\nHuman: {}',
    'USER:\n{}',
    '### Human: {}',
    'Observation: {}',
    'Observation:\n{}\nThought: so',
    'Tool results: {}',
    'Function output:\n{}',
    '<|think|>{}',
    '<|analysis|>{}<|/analysis|>',
    '<|START_REASONING|>{}<|END_REASONING|>',
    '<|tool_output|>{}<|end_tool_output|>',
    '<|note|>{}<|/note|>',
    '<output>\n{}\n</output>',
    '<output>\n{}',
    '[REASONING]{}[/REASONING]',
    '<｜think｜>{}',
    '<|draft|>{}',
    '<thinking_process>{}',
    '**User:** {}',
    'OBSERVATION: {}',
    '<Log id="3">read {} there\n</log >',
    'It is <b>{}\n</b>.',
    '<div><br><div class="x">y</div>{}\n</div>',
    '<shown-data>\n<other>{}\n</shown-data>',
    '<read_file>, with {}\n</read_file>',
    '<output>{}\nObservation: so </output>',
    '[output]{}[/output]',
    '[Quote]\n{}\n[/quote]',
    '&lt;output&gt;{}&lt;/output&gt;',
    '&lt;note id="1"&gt;\n{}\n&lt;/note&gt;',
    '<output\u200b>{}',
    '<\ufeffthink\u200b>{}',
    '<shown>{}</ shown>',
    '<_note>{}</_note>',
    '<заметка>{}</заметка>',
    '[|user|]{}',
    '<|im_start|> User\n{}<|im_end|>',
    '<|start_header_id|> user <|end_header_id|>\n{}',
    '<|start_of_role|>tool_response<|end_of_role|>{}<|end_of_text|>',
    '<|USER_TOKEN|>{}<|CHATBOT_TOKEN|>',
    'So.\nFINAL ANSWER: {}',
    'Final Answer : {}',
    '## Tool result:\n{}',
    'So.\n# User:\n{}',
    'Tool call output:\n{}',
    '```{{.text}}\n{}\n```',
)
"""Data that is no call, whatever it contains."""

INDENTATIONS = ('    ', '\t', '      ')
"""The indentations of code."""

LINE_ASIDES = (
    '> {}',
    'He wrote:\n  > {}',
    '- > {}',
    'So:\n\n2. * > {}',
    'So:\r\n     > {}',
    '\u200b> {}',
    '$ echo {}',
    'So:\n$ echo {}',
    '@@ -1 +1 @@\n-so\n+{}',
    'Write `{}` for that.',
    'Write ``{}`` for that.',
    'Write ```{}``` for that.',
)
"""Data that is no call, in one line."""
