"""What there is to translate in a source file: an extraction method of Babel, which reads the source and imports nothing.

It finds the message of every error class, the closed words (`Literal`) that such a message names, calls of gettext's
functions, and constants whose name ends in `_MESSAGE`, or in `_MESSAGES` where one text is for one thing and one for
many. For the errors of your own program, in `babel.cfg`:

    [extractors]
    errors = seamwise.locale.extraction:extract
    [errors: **.py]
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import IO, TypeAlias

from seamwise.errors import _in_words
from seamwise.messages import parse_template

Found: TypeAlias = tuple[int, str, str | tuple[str, ...], list[str]]
"""Line, the function of gettext that looks it up, its arguments, comments for the translator: as Babel wants it."""

IDENTIFIERS = frozenset(
    {'acknowledged', 'close_code', 'code', 'exit_code', 'line', 'position', 'requested', 'status'}
)
"""Whole numbers that count nothing: a message that names one of them first needs no plural forms."""


def extract(
    file: IO[bytes],
    keywords: Collection[str],
    comment_tags: object,  # noqa: ARG001 -- Babel hands it over
    options: object,  # noqa: ARG001 -- likewise
) -> Iterator[Found]:
    """Find what there is to translate in a Python file; `keywords` are the names of gettext's functions.

    >>> from io import BytesIO
    >>> source = b"class Late(TaggedError, category=Category.TIMEOUT, message='{count} days late.'): count: int"
    >>> list(extract(BytesIO(source), (), (), {}))
    [(1, 'ngettext', ('{count} days late.', '{count} days late.'), ['Late'])]
    """
    tree = ast.parse(file.read())
    closed = {name: words for name, value in _assigned(tree) if (words := _words(value, {}))}
    for name, value in _assigned(tree):
        if name.endswith('_MESSAGE'):
            yield value.lineno, 'gettext', _texts([value]), []
        elif name.endswith('_MESSAGES') and isinstance(value, ast.Tuple):
            yield value.lineno, 'ngettext', _texts(value.elts), []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from _of_class(node, closed)
        elif (
            isinstance(node, ast.Call)
            and (name := _name(node.func)) in keywords
            and (texts := _texts(node.args))
        ):
            yield node.lineno, name, texts, []


def _of_class(node: ast.ClassDef, closed: Mapping[str, tuple[str, ...]]) -> Iterator[Found]:
    said = {one.arg: one.value for one in node.keywords}
    if 'category' not in said:
        return
    template = ast.literal_eval(said['message']) if 'message' in said else _in_words(node.name)
    fields = {
        _name(one.target): one.annotation for one in node.body if isinstance(one, ast.AnnAssign)
    }
    named = [part.field for part in parse_template(template) if part.field in fields]
    number = next((field for field in named if _name(fields[field]) == 'int'), None)
    if number is None or number in IDENTIFIERS:
        yield node.lineno, 'gettext', template, [node.name]
    else:
        yield node.lineno, 'ngettext', (template, template), [node.name]
    for field in named:
        for word in _words(fields[field], closed):
            yield node.lineno, 'pgettext', (field or '', word), [node.name]


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield _name(node.target), node.value
        elif isinstance(node, ast.Assign):
            yield from ((_name(target), node.value) for target in node.targets)


def _words(annotation: ast.expr, closed: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Give the texts of a `Literal`, written out or by its name in the same file; `| None` may stand beside it."""
    if isinstance(annotation, ast.BinOp):
        return _words(annotation.left, closed) + _words(annotation.right, closed)
    if isinstance(annotation, ast.Subscript) and _name(annotation.value) == 'Literal':
        inside = annotation.slice
        return _texts(inside.elts if isinstance(inside, ast.Tuple) else [inside])
    return closed.get(_name(annotation), ())


def _texts(nodes: Collection[ast.expr]) -> tuple[str, ...]:
    return tuple(
        one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)
    )


def _name(node: ast.expr) -> str:
    """Give the last name of `a.b.c`, empty where there is none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ''
