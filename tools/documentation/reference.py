"""Pages of the reference, made from the code: public names, errors, commands and wire shapes."""

import ast
import importlib
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from click import Context
from click.testing import CliRunner
from msgspec import Struct

from seamwise import Failure, Success, TaggedError
from seamwise._errors.type_hints import resolved_hints
from seamwise._text.json_fields import is_array, is_object
from seamwise.documents.collect import collect_entry
from seamwise.documents.library import library_catalog
from seamwise.documents.shape import Answer, ErrorEntry
from seamwise.documents.text import example_lines, layout_json
from seamwise.program.cli import seamwise
from tools.documentation.attributes import describe_attribute
from tools.documentation.public_names import MODULES, public_names, source_file
from tools.documentation.stage import with_keywords

COLUMNS = 88

SHAPES = {
    'HTTP': ('seamwise.seams.http', ('HttpError', 'HttpResponse')),
    'Terminal': ('seamwise.seams.cli', ('Rendered',)),
    'Log': ('seamwise.seams.log', ('LogRecord',)),
    'Language models': ('seamwise.seams.model', ('Guidance', 'Done')),
    'Planners': ('seamwise.seams.planner', ('ErrorInfo',)),
    'Chat sessions': ('seamwise.seams.session', ('ErrorEvent', 'StoredError')),
    'JSON-RPC': ('seamwise.seams.jsonrpc', ('ErrorResponse', 'RpcError')),
    'Live sessions': ('seamwise.live', ('Event', 'Position')),
}
"""Structs that are written to a wire, by the title of their section: module, and names."""


def write_reference(folder: Path) -> None:
    """Write all pages of the reference into a folder."""
    pages = {
        'index.md': _index(),
        'commands.md': '\n'.join(_commands()),
        'wire-shapes.md': with_keywords('\n'.join(_wire_shapes())),
        **dict(_api_pages()),
        **dict(_error_pages()),
    }
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{text.rstrip()}\n', encoding='utf-8')


def _index() -> str:
    lines = ['# Public names', '', 'Every name that a program may import, by module.', '']
    for title, modules in MODULES.items():
        lines += [f'## {title}', '', '| Module | Contents |', '| --- | --- |']
        lines += [f'| [`{m}`](api/{m}.rst) | {_first_sentence(m)} |' for m in modules]
        lines += ['', '```{toctree}', ':hidden:', '', *(f'api/{m}' for m in modules), '```', '']
    return '\n'.join(lines)


def _first_sentence(module: str) -> str:
    return (inspect.getdoc(importlib.import_module(module)) or '').split('\n', 1)[0]


def _api_pages() -> Iterator[tuple[str, str]]:
    first_places: dict[int, str] = {}
    for module in (name for modules in MODULES.values() for name in modules):
        title = f'``{module}``'
        lines = [title, '=' * len(title), '', f'.. py:module:: {module}']
        if module in first_places.values():
            # A function of the package, such as `chaos`, has the name of its module.
            lines.append('   :no-index:')
        lines.append('')
        lines += [f'.. automodule:: {module}', '   :no-index:', '   :no-members:', '']
        lines += [f'.. currentmodule:: {module}', '']
        for name in public_names(module):
            value: object = getattr(importlib.import_module(module), name)
            first = first_places.setdefault(id(value), f'{module}.{name}')
            if inspect.isclass(value) or inspect.isroutine(value):
                lines += _directive(name, value, first if first != f'{module}.{name}' else None)
            else:
                lines += describe_attribute(module, name, value)
        yield f'api/{module}.rst', '\n'.join(lines)


def _directive(name: str, value: object, first: str | None) -> list[str]:
    if first is not None:
        role = 'class' if inspect.isclass(value) else 'func'
        return [
            f'.. py:{role}{"tion" * (role == "func")}:: {name}',
            '',
            f'   The same as :py:{role}:`{first}`.',
            '',
        ]
    if value is Success or value is Failure:
        content = 'value' if value is Success else 'error'
        return [f'.. autoclass:: {name}({content}, /)', '', *_methods_of_stub(name)]
    if inspect.isclass(value):
        return [f'.. autoclass:: {name}', '   :members:', '']
    return [f'.. autofunction:: {name}', '']


def _methods_of_stub(class_name: str) -> Iterator[str]:
    """Yield the methods of a container, whose types and docstrings are in the stub file."""
    tree = ast.parse(
        source_file('seamwise._results.containers').with_suffix('.pyi').read_text('utf-8')
    )
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name, body=body) if name == class_name:
                methods = [method for method in body if isinstance(method, ast.FunctionDef)]
            case _:
                continue
        for method in methods:
            if docstring := ast.get_docstring(method):
                yield f'   .. py:method:: {_signature(method)}'
                yield ''
                yield textwrap.indent(docstring, '      ')
                yield ''


def _signature(method: ast.FunctionDef) -> str:
    """Return the signature of a method without `self` and the private names of type variables."""
    method.args.args = method.args.args[1:]
    method.decorator_list = []
    text = ast.unparse(method).split('\n', 1)[0].partition('def ')[2].removesuffix(':')
    return re.sub(r'\b_([A-Z])(?:_co)?\b', r'\1', text)


def _commands() -> Iterator[str]:
    yield '# The command line'
    yield ''
    yield 'The help of `seamwise` and of each command.'
    runner = CliRunner()
    names = ['', *seamwise.list_commands(Context(seamwise))]
    for name in names:
        command = ['seamwise', *filter(None, [name])]
        result = runner.invoke(seamwise, [*command[1:], '--help'], terminal_width=COLUMNS)
        yield f'\n## `{" ".join(command)}`\n\n```text\n{result.output.rstrip()}\n```'


def _wire_shapes() -> Iterator[str]:
    yield '# Wire shapes'
    yield ''
    yield '<!-- keywords: JSON Schema, schema of an error response, response body, wire format -->'
    yield ''
    yield (
        'The structs that seams write, with their JSON Schema (2020-12). The page of each seam'
        ' explains the fields and has examples.'
    )
    for title, (module_name, names) in SHAPES.items():
        module = importlib.import_module(module_name)
        yield f'\n## {title}\n'
        for name in names:
            shape: type[Struct] = getattr(module, name)
            schema = with_plain_descriptions(msgspec.json.schema(shape, schema_hook=_any_json))
            yield f'### `{module_name}.{name}`\n'
            yield '```json'
            yield json.dumps(schema, indent=2, ensure_ascii=False)
            yield '```\n'


def with_plain_descriptions(schema: object) -> object:
    r"""Return a JSON Schema whose descriptions have no indentation and no line breaks of the code.

    >>> with_plain_descriptions({'description': 'A key.\n\n    It is\n    safe.'})
    {'description': 'A key.\n\nIt is safe.'}
    """
    if is_object(schema):
        return {
            key: _plain_text(value)
            if key == 'description' and isinstance(value, str)
            else with_plain_descriptions(value)
            for key, value in schema.items()
        }
    if is_array(schema):
        return [with_plain_descriptions(item) for item in schema]
    return schema


def _plain_text(docstring: str) -> str:
    paragraphs = inspect.cleandoc(docstring).split('\n\n')
    # The lines of a section such as `Args:` stay apart.
    return '\n\n'.join(
        text if text.endswith(':') or ':\n' in text else ' '.join(text.split())
        for text in paragraphs
    )


def _any_json(_type: type) -> dict[str, object]:
    """Return the schema of a type that msgspec does not know, such as `object`."""
    return {'description': 'Any JSON value.'}


def _error_pages() -> Iterator[tuple[str, str]]:
    catalog = library_catalog()
    lines = ['# Errors', '', 'All errors that this library defines, by union.', '']
    lines += ['| Union | Errors |', '| --- | --- |']
    for union, kinds in catalog.unions.items():
        entries = [collect_entry(kind, catalog) for kind in kinds]
        names = ', '.join(f'[{k.__name__}](errors/{union}.md#{k.__name__.lower()})' for k in kinds)
        lines.append(f'| [`{union}`](errors/{union}.md) | {names} |')
        yield f'errors/{union}.md', '\n'.join(_union_page(union, entries, kinds))
    lines += ['', '```{toctree}', ':hidden:', '', *(f'errors/{u}' for u in catalog.unions), '```']
    yield 'errors.md', '\n'.join(lines)


def _union_page(
    union: str, entries: list[ErrorEntry], kinds: tuple[type[TaggedError], ...]
) -> Iterator[str]:
    place = public_place(union, sys.modules[kinds[0].__module__])
    yield f'# {union}\n'
    if place == kinds[0].__module__:
        # The page of another module describes its union itself.
        yield f'```{{py:data}} {place}.{union}\n:no-typesetting:\n```\n'
    names = ', '.join(f'`{kind.__name__}`' for kind in kinds)
    yield f'The errors of `{union}`: {names}.\n'
    yield f'`from {place} import {union}`\n'
    for entry, kind in zip(entries, kinds, strict=True):
        yield f'## {kind.__name__}\n'
        yield f'```{{py:class}} {kind.__module__}.{kind.__name__}\n:no-typesetting:\n```\n'
        if entry.meaning:
            yield f'{_escaped(entry.meaning)}\n'
        place = public_place(kind.__name__, sys.modules[kind.__module__])
        yield f'`from {place} import {kind.__name__}`\n'
        yield '| Trait | Value |\n| --- | --- |'
        yield f'| Tag | `{entry.tag}` |'
        yield f'| Category | `{entry.category}` |'
        yield f'| Retryable | {"yes" if entry.retryable else "no"} |'
        yield f'| Recovery | `{entry.recovery}` |'
        yield f'| Message | {_cell(entry.template)} |'
        if entry.public is not None:
            yield f'| Public message | {_cell(entry.public)} |'
        yield from _field_table(entry, kind)
        yield '\n| Seam | Output |\n| --- | --- |'
        for answer in entry.answers:
            yield f'| {_seam(answer)} | {_cell(answer.summary or "never reaches this seam")} |'
        if entry.advice:
            yield ''
            yield from (f'- {_escaped(advice)}' for advice in entry.advice)
        yield f'\n:::{{dropdown}} Example: {_escaped(entry.message)}\n'
        yield '````text'
        yield from example_lines(entry.example)
        yield '````\n'
        for answer in entry.answers:
            if answer.output is not None:
                yield f'{_seam(answer)}:\n'
                yield '````json'
                yield from layout_json(json.loads(bytes(answer.output)), COLUMNS)
                yield '````\n'
        yield ':::\n'


def _field_table(entry: ErrorEntry, kind: type[Struct]) -> Iterator[str]:
    if not entry.fields:
        return
    yield '\n| Field | Type | Default | Public |\n| --- | --- | --- | --- |'
    hints, defaults = resolved_hints(kind), defaults_of(kind)
    for field in entry.fields:
        default = 'required' if field.required else _cell(defaults[field.name])
        public = 'yes' if field.public else 'no'
        type_ = _cell(annotation(hints[field.name]))
        yield f'| `{field.name}` | {type_} | {default} | {public} |'


def public_place(name: str, module: ModuleType) -> str:
    """Return the module from which programs import a name: of a guard, the package of all guards.

    >>> public_place('RateLimited', sys.modules['seamwise.policies.errors'])
    'seamwise.policies'
    >>> public_place('ToolError', sys.modules['seamwise.catalog.tools'])
    'seamwise.catalog.tools'
    """
    package = module.__name__.rpartition('.')[0]
    documented = {module for modules in MODULES.values() for module in modules}
    return package if package in documented and name in public_names(package) else module.__name__


def annotation(hint: Any) -> str:
    """Return the type of a field as it is written in code.

    >>> annotation(tuple[str, ...]), annotation(float | None), annotation(Literal['a', 'b'])
    ('tuple[str, ...]', 'float | None', "Literal['a', 'b']")
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return ' | '.join(map(annotation, arguments))
    if origin is Literal:
        return f'Literal[{", ".join(map(repr, arguments))}]'
    if origin is not None:
        return f'{origin.__name__}[{", ".join(map(annotation, arguments))}]'
    names: dict[object, str] = {NoneType: 'None', Ellipsis: '...'}
    return names.get(hint) or str(getattr(hint, '__name__', hint))


def defaults_of(kind: type[Struct]) -> dict[str, str]:
    """Return the defaults of the fields of a struct that have one, as code."""
    defaults: dict[str, str] = {}
    for field in msgspec.structs.fields(kind):
        if field.default is not msgspec.NODEFAULT:
            defaults[field.name] = repr(field.default)
        elif field.default_factory is not msgspec.NODEFAULT:
            defaults[field.name] = repr(field.default_factory())
    return defaults


def _seam(answer: Answer) -> str:
    return f'{answer.seam} ({answer.where})' if answer.where else answer.seam


def _cell(text: str) -> str:
    """Return a text as code in a cell of a table."""
    return f'`` {text} ``'.replace('|', '\\|').replace('\n', ' ')


def _escaped(text: str) -> str:
    """Return a text without the characters that Markdown would interpret, except code."""
    return text.replace('\n', ' ').replace('*', '\\*').replace('<', '\\<').replace('_', '\\_')
