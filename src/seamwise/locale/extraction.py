"""Extraction method for Babel: the translatable texts of a Python file, without importing it.

These are the messages and public messages of error classes, the words of each `Literal` field in
them, the general messages of categories, the texts after `hint=` in `exits`, and the arguments of
gettext calls. Constants named `…_MESSAGE` are texts too; `…_MESSAGES` is a pair of singular and
plural. To translate the errors of your own program, add this to `babel.cfg`:

    [extractors]
    errors = seamwise.locale.extraction:extract
    [errors: **.py]
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import IO, TypeAlias

from seamwise.errors import default_message
from seamwise.messages import parse_template

Extracted: TypeAlias = tuple[int, str, str | tuple[str, ...], list[str]]
"""Line, name of the gettext function, its arguments, and comments for the translator."""

IDENTIFIERS = frozenset(
    {'acknowledged', 'close_code', 'code', 'exit_code', 'line', 'position', 'requested', 'status'}
)
"""Integer fields that are no counts: a message whose first number is one has no plural forms."""


def extract(
    file: IO[bytes],
    keywords: Collection[str],
    comment_tags: object,  # noqa: ARG001 -- passed by Babel
    options: object,  # noqa: ARG001 -- passed by Babel
) -> Iterator[Extracted]:
    """Yield the translatable texts of a Python file; `keywords` are the names of gettext functions.

    >>> from io import BytesIO
    >>> source = b"class Late(TaggedError, category=C, message='{count} days late.'): count: int"
    >>> list(extract(BytesIO(source), (), (), {}))
    [(1, 'ngettext', ('{count} days late.', '{count} days late.'), ['Late'])]
    """
    tree = ast.parse(file.read())
    literals = {name: words for name, value in _assignments(tree) if (words := _words(value, {}))}
    for name, value in _assignments(tree):
        if name.endswith('_MESSAGE'):
            yield value.lineno, 'gettext', _texts([value]), []
        elif name.endswith('_MESSAGES') and isinstance(value, ast.Tuple):
            yield value.lineno, 'ngettext', _texts(value.elts), []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from _class_texts(node, literals)
        elif isinstance(node, ast.Call):
            yield from _call_texts(node, keywords)


def _call_texts(node: ast.Call, keywords: Collection[str]) -> Iterator[Extracted]:
    name = _name(node.func)
    if name in keywords and (texts := _texts(node.args)):
        yield node.lineno, name, texts, []
    for keyword in node.keywords:
        if keyword.arg == 'general_message' or (name == 'exits' and keyword.arg == 'hint'):
            yield from ((node.lineno, 'gettext', text, []) for text in _texts([keyword.value]))


def _class_texts(
    node: ast.ClassDef, literals: Mapping[str, tuple[str, ...]]
) -> Iterator[Extracted]:
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    if 'category' not in keywords:
        return
    message, public = keywords.get('message'), keywords.get('public')
    templates = [default_message(node.name) if message is None else ast.literal_eval(message)]
    if public is not None:
        templates.append(ast.literal_eval(public))
    fields = {
        _name(statement.target): statement.annotation
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for template in templates:
        yield from _template_texts(node, template, fields, literals)


def _template_texts(
    node: ast.ClassDef,
    template: str,
    fields: Mapping[str, ast.expr],
    literals: Mapping[str, tuple[str, ...]],
) -> Iterator[Extracted]:
    named = [part.field for part in parse_template(template) if part.field and part.field in fields]
    number = next((field for field in named if _name(fields[field]) == 'int'), None)
    if number is None or number in IDENTIFIERS:
        yield node.lineno, 'gettext', template, [node.name]
    else:
        yield node.lineno, 'ngettext', (template, template), [node.name]
    for field in named:
        for word in _words(fields[field], literals):
            yield node.lineno, 'pgettext', (field, word), [node.name]


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield _name(node.target), node.value
        elif isinstance(node, ast.Assign):
            yield from ((_name(target), node.value) for target in node.targets)


def _words(annotation: ast.expr, literals: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the texts of a `Literal` or of an alias for one in the same file, in a union too."""
    if isinstance(annotation, ast.BinOp):
        return _words(annotation.left, literals) + _words(annotation.right, literals)
    if isinstance(annotation, ast.Subscript) and _name(annotation.value) == 'Literal':
        arguments = annotation.slice
        return _texts(arguments.elts if isinstance(arguments, ast.Tuple) else [arguments])
    return literals.get(_name(annotation), ())


def _texts(nodes: Collection[ast.expr]) -> tuple[str, ...]:
    return tuple(
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _name(node: ast.expr) -> str:
    """Return `c` for `a.b.c`, an empty text for other expressions."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ''
