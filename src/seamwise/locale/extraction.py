"""Extraction method for Babel: the translatable texts of a Python file, without importing it.

These are the messages of error classes, the words of each `Literal` field in such a message, the
texts after `hint=` in `exits`, and the arguments of gettext calls, since Babel applies only one
method to a file. The entry point `seamwise` of the group `babel.extractors` names this method, so
that `babel.cfg` needs one line:

    [seamwise: **.py]

Options:

- `identifiers`: names of further integer fields that are no counts, separated by blanks.
- `message_constants`: `true` to extract constants named `…_MESSAGE`, and `…_MESSAGES`, a pair of
  singular and plural.
"""

import ast
import logging
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping
from io import BytesIO
from typing import IO, TypeAlias

from seamwise._errors.errors import default_message
from seamwise._errors.messages import parse_template

Arguments: TypeAlias = str | tuple[str | None, ...]
"""Arguments of a gettext function; None stands for one that is no literal text."""

Extracted: TypeAlias = tuple[int, str | None, Arguments, list[str]]
"""Line, name of the gettext function, its arguments, and comments for the translator."""

IDENTIFIERS = frozenset(
    (
        *('acknowledged', 'close_code', 'code', 'exit_code', 'id', 'line', 'number', 'pid'),
        *('port', 'position', 'requested', 'status', 'uid', 'year'),
    )
)
"""Integer fields that are no counts, beside all `…_id`.

A message whose first number is one has no plural forms.
"""

_TEMPLATES = ('message', 'public')
"""The class keywords with a text for people."""


def extract(
    file: IO[bytes],
    keywords: Collection[str],
    comment_tags: Collection[str],
    options: Mapping[str, str],
) -> Iterator[Extracted]:
    """Yield the translatable texts of a Python file: those of its classes first.

    >>> source = b"class Late(TaggedError, category=C, message='{count} days late.'): count: int"
    >>> list(extract(BytesIO(source), (), (), {}))
    [(1, 'ngettext', ('{count} days late.', '{count} days late.'), ['Late'])]

    Args:
        file: The file, in the encoding that it declares.
        keywords: Names of gettext functions.
        comment_tags: Words that begin a comment for translators, such as `Translators:`.
        options: Options of `babel.cfg`; see the module.

    Raises:
        SyntaxError: The file is not valid Python.
    """
    source = file.read()
    name = str(getattr(file, 'name', '<source>'))
    extractor = _Extractor(ast.parse(source, name), name, _Comments(source, comment_tags), options)
    has_constants = options.get('message_constants') == 'true'
    texts = [
        *(extractor.constants() if has_constants else ()),
        *extractor.class_texts(),
        *extractor.keyword_texts(),
    ]
    if keywords:
        texts = [*_in_functions(texts, keywords), *extractor.calls(keywords)]
    yield from texts


def _in_functions(texts: Iterable[Extracted], keywords: Collection[str]) -> Iterator[Extracted]:
    """Yield texts of functions that Babel does not know as plain texts, without plural forms."""
    for line, function, arguments, comments in texts:
        if function in keywords:
            yield line, function, arguments, comments
        elif function != 'pgettext':
            yield line, None, arguments, comments


class _Comments:
    """The comments of a file by their lines."""

    def __init__(self, source: bytes, tags: Collection[str]) -> None:
        self._tags = tuple(tags)
        self._by_line: Mapping[int, str] = {}
        if self._tags:
            tokens = tokenize.tokenize(BytesIO(source).readline)
            self._by_line = {
                token.start[0]: token.string.lstrip('#').strip()
                for token in tokens
                if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
            }

    def above(self, line: int) -> list[str]:
        """Return the comment for translators directly above a line, from its tag on."""
        start = line
        while start - 1 in self._by_line:
            start -= 1
        block = [self._by_line[number] for number in range(start, line)]
        first = next((i for i, text in enumerate(block) if text.startswith(self._tags)), len(block))
        return block[first:]


class _Extractor:
    def __init__(
        self, tree: ast.Module, file: str, comments: _Comments, options: Mapping[str, str]
    ) -> None:
        self._tree = tree
        self._file = file
        self._comments = comments
        self._identifiers = IDENTIFIERS | {*options.get('identifiers', '').split()}
        self._assigned = dict(_assignments(tree))
        self._literals = {
            name: words for name, value in self._assigned.items() if (words := _words(value, {}))
        }
        self._bases = {'TaggedError', *_aliases(tree)}

    def class_texts(self) -> Iterator[Extracted]:
        """Yield the templates of all error classes, and the words of their `Literal` fields."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ClassDef) and self._is_error(node):
                yield from self._texts_of(node)

    def keyword_texts(self) -> Iterator[Extracted]:
        """Yield the texts after `hint=` of the CLI seam, and after `general_message=`."""
        calls = [node for node in ast.walk(self._tree) if isinstance(node, ast.Call)]
        for call, keyword in ((node, item) for node in calls for item in node.keywords):
            is_hint = keyword.arg == 'hint' and _name(call.func) == 'exits'
            is_text = is_hint or keyword.arg == 'general_message'
            if is_text and (text := self._text(keyword.value)):
                yield keyword.lineno, 'gettext', text, self._comments.above(keyword.lineno)

    def constants(self) -> Iterator[Extracted]:
        """Yield the constants of the names `…_MESSAGE` and `…_MESSAGES`."""
        for name, value in self._assigned.items():
            if name.endswith('_MESSAGE'):
                yield value.lineno, 'gettext', _texts([value]), []
            elif name.endswith('_MESSAGES') and isinstance(value, ast.Tuple):
                yield value.lineno, 'ngettext', _texts(value.elts), []

    def calls(self, keywords: Collection[str]) -> Iterator[Extracted]:
        """Yield the literal arguments of gettext calls."""
        # A comment stands above the call, or above the statement that contains it.
        statements = {
            node: statement.lineno
            for statement in ast.walk(self._tree)
            if isinstance(statement, ast.stmt)
            for node in ast.walk(statement)
            if isinstance(node, ast.Call) and _name(node.func) in keywords
        }
        for node, line in statements.items():
            arguments = tuple(self._text(argument) for argument in node.args)
            if any(arguments):
                comments = self._comments.above(node.lineno) or self._comments.above(line)
                yield node.lineno, _name(node.func), arguments, comments

    def _is_error(self, node: ast.ClassDef) -> bool:
        return any(_name(base) in self._bases for base in node.bases) and any(
            keyword.arg == 'category' for keyword in node.keywords
        )

    def _texts_of(self, node: ast.ClassDef) -> Iterator[Extracted]:
        first_line = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        fields = {
            _name(statement.target): statement.annotation
            for statement in node.body
            if isinstance(statement, ast.AnnAssign)
        }
        words: dict[tuple[str, str], int] = {}
        for line, template in self._templates(node):
            comments = [node.name, *self._comments.above(first_line)]
            if line != node.lineno:
                comments += self._comments.above(line)
            named = [field for field in self._fields_in(template, line) if field in fields]
            number = next((field for field in named if _name(fields[field]) == 'int'), None)
            if number is None or number in self._identifiers or number.endswith('_id'):
                yield line, 'gettext', template, comments
            else:
                yield line, 'ngettext', (template, template), comments
            for field in named:
                for word in _words(fields[field], self._literals):
                    words.setdefault((field, word), line)
        for (field, word), line in words.items():
            yield line, 'pgettext', (field, word), [node.name]

    def _templates(self, node: ast.ClassDef) -> Iterator[tuple[int, str]]:
        """Yield the templates of a class with their lines."""
        keywords = {keyword.arg: keyword for keyword in node.keywords}
        if 'message' not in keywords:
            yield node.lineno, default_message(node.name)
        for name in _TEMPLATES:
            if keyword := keywords.get(name):
                template = self._text(keyword.value)
                if template is None:
                    self._warn(keyword.lineno, f'{name!r} of {node.name} is not a literal text')
                elif template:
                    yield keyword.lineno, template

    def _text(self, node: ast.expr) -> str | None:
        """Return a literal text, a sum of them, or a constant of this file; None for others."""
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = [self._text(left), self._text(right)]
                return None if None in parts else ''.join(filter(None, parts))
            case ast.Name(id=name) if name in self._assigned:
                value = self._assigned[name]
                return None if isinstance(value, ast.Name) else self._text(value)
            case _:
                return None

    def _fields_in(self, template: str, line: int) -> list[str]:
        try:
            return [part.field for part in parse_template(template) if part.field]
        except ValueError as error:
            self._warn(line, f'the message {template!r} does not work ({error})')
            return []

    def _warn(self, line: int, problem: str) -> None:
        logging.getLogger('seamwise').warning('%s:%d: %s.', self._file, line, problem)


def _aliases(tree: ast.Module) -> Iterator[str]:
    """Yield the other names under which a file imports `TaggedError`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == 'TaggedError' and alias.asname:
                    yield alias.asname


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


def _texts(nodes: Iterable[ast.expr]) -> tuple[str, ...]:
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
