"""Fields of a new error class, as `name:type` on a command line."""

import ast
import keyword
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct

from seamwise._errors.errors import RESERVED
from seamwise._text.phrases import join_limited

TYPES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(('str', 'int', 'float', 'bool', 'bytes', 'object'), ''),
        **dict.fromkeys(('tuple', 'frozenset'), ''),
        **dict.fromkeys(('date', 'datetime', 'time', 'timedelta'), 'datetime'),
        'Decimal': 'decimal',
        'Literal': 'typing',
        'UUID': 'uuid',
        'Cause': 'seamwise',
        'Internal': 'seamwise',
        'Secret': 'seamwise',
    }
)
"""The names that a type can contain, and the module of each; empty for a builtin."""

_IMMUTABLE: Mapping[str, str] = {
    'list': 'tuple[…, ...]',
    'List': 'tuple[…, ...]',
    'set': 'frozenset[…]',
    'Set': 'frozenset[…]',
    'dict': 'tuple[tuple[str, …], ...]',
    'Dict': 'tuple[tuple[str, …], ...]',
}

MAX_TYPE_LENGTH = 60
"""In characters; a formatter would wrap the line of a longer type."""

_IN_MESSAGES = {'str', 'int', 'float', 'bool', 'date', 'datetime', 'time', 'Decimal', 'UUID'}


class ScaffoldError(Exception):
    """The class cannot be written; the message says why, and what to write instead."""


class NewField(Struct, frozen=True):
    """A field of a new class: its name, and its type in the spelling of the source."""

    name: str
    type: str
    is_optional: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the type, which the module must import."""
        return tuple(_names_in(ast.parse(self.type, mode='eval')))

    @property
    def placeholder(self) -> str:
        """The field in a message, or an empty text if a message should not print it."""
        if self.type not in _IN_MESSAGES:
            return ''
        return f'{{{self.name}!r}}' if self.type == 'str' else f'{{{self.name}}}'

    @property
    def line(self) -> str:
        """The line of the field in the body of the class."""
        return f'{self.name}: {self.type}{" = None" if self.is_optional else ""}'


def parse_field(text: str) -> NewField:
    """Return the field in a text of the form `name:type`.

    >>> parse_field('note: str|None')
    NewField(name='note', type='str | None', is_optional=True)

    Raises:
        ScaffoldError: The name or the type cannot be a field of an error.
    """
    name, separator, type_text = (part.strip() for part in text.partition(':'))
    if not (separator and name and type_text):
        raise ScaffoldError(f'{text!r} is no field. Write a name and a type, such as uid:int.')
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith('_'):
        raise ScaffoldError(f'{name!r} cannot be the name of a field.')
    if name in RESERVED:
        raise ScaffoldError(f'{name!r} is an attribute of every error; choose another name.')
    try:
        tree = ast.parse(type_text, mode='eval')
    except (SyntaxError, ValueError):
        raise ScaffoldError(f'{type_text!r} is no type.') from None
    _check(tree.body, name)
    spelling = _spelling(tree)
    if len(spelling) > MAX_TYPE_LENGTH:
        raise ScaffoldError(
            f'the type of {name!r} is longer than {MAX_TYPE_LENGTH} characters; write a shorter '
            'one, and extend it in the file.'
        )
    return NewField(name, spelling, is_optional=_is_optional(tree.body))


def _check(node: ast.expr, field: str) -> None:
    """Raise ScaffoldError unless a type consists of known names."""
    match node:
        case ast.Name(id=name) if name in TYPES:
            return
        case ast.Constant(value=None):
            return
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            _check(left, field)
            _check(right, field)
        case ast.Subscript(value=ast.Name(id='Literal'), slice=values):
            _check_literal(values, field)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=items)):
            for item in (value, *items):
                if not (isinstance(item, ast.Constant) and item.value is Ellipsis):
                    _check(item, field)
        case ast.Subscript(value=value, slice=item):
            _check(value, field)
            _check(item, field)
        case ast.Name(id=name) if name in _IMMUTABLE:
            raise ScaffoldError(
                f'the field {field!r} cannot be a {name}: an error is immutable and hashable. '
                f'Write {_IMMUTABLE[name]}.'
            )
        case _:
            raise ScaffoldError(
                f'the type {ast.unparse(node)!r} of {field!r} is unknown. Use '
                f'{join_limited(sorted(TYPES), last="or")}, and change it in the file.'
            )


def _check_literal(values: ast.expr, field: str) -> None:
    items = values.elts if isinstance(values, ast.Tuple) else [values]
    for item in items:
        if not isinstance(item, ast.Constant) or not isinstance(item.value, str | int):
            raise ScaffoldError(f'the Literal of {field!r} must list texts or whole numbers.')


def _is_optional(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_optional(node.left) or _is_optional(node.right)
    return isinstance(node, ast.Constant) and node.value is None


def _names_in(tree: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _spelling(tree: ast.Expression) -> str:
    """Return a type as a formatter writes it, with double quotes."""
    text = ast.unparse(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = text.replace(repr(node.value), quoted(node.value))
    return text


def quoted(text: str) -> str:
    r"""Return a text as a literal in the quotes that Black and Ruff prefer.

    >>> print(quoted("it's"), quoted('a "b"'), quoted('a\nb'))
    "it's" 'a "b"' "a\nb"
    """
    quote = "'" if text.count('"') > text.count("'") else '"'
    escaped = ''.join(
        character if character.isprintable() else character.encode('unicode_escape').decode()
        for character in text.replace('\\', '\\\\')
    )
    return f'{quote}{escaped.replace(quote, chr(92) + quote)}{quote}'
