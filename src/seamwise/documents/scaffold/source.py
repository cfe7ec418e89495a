"""Source code of a new error class and its arms, as Black and Ruff format it."""

import keyword
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from seamwise._errors.categories import Category
from seamwise._errors.errors import default_message
from seamwise._text.phrases import join_quoted
from seamwise.documents.scaffold.defaults import ANSWERS
from seamwise.documents.scaffold.fields import TYPES, NewField, ScaffoldError, quoted

LINE_LENGTH = 88
"""The default of Black and Ruff."""

MAX_NAME_LENGTH = 50
"""In characters, so that each line fits."""

_RESERVED = frozenset(('Category', 'TaggedError', *TYPES))

Names = Mapping[str, str]
"""The name under which a module knows each imported name."""


class NewError(Struct, frozen=True, kw_only=True):
    """A new error class.

    Args:
        name: Name of the class.
        category: Category, from which the default answers follow.
        fields: The fields; optional ones are written last.
        message: Template of the message. Default: the name in words, with the fields.
        seams: Names of the seams with an arm.
    """

    name: str
    category: Category
    fields: tuple[NewField, ...] = ()
    message: str | None = None
    seams: tuple[str, ...] = ()

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of the tables, one a seam."""
        return tuple(f'{_words(self.name, "_").upper()}_{seam.upper()}' for seam in self.seams)


def check_name(name: str) -> None:
    """Check that a class can have a name that says what happened.

    Raises:
        ScaffoldError: It cannot; the message suggests another name.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        parts = re.findall(r'\w+', name)
        other = ''.join(part[:1].upper() + part[1:] for part in parts).lstrip('0123456789')
        hint = f' Did you mean {other}?' if other.isidentifier() else ''
        raise ScaffoldError(f'{name!r} cannot be the name of a class.{hint}')
    if name[0].islower() or '_' in name:
        other = ''.join(part[:1].upper() + part[1:] for part in name.split('_'))
        raise ScaffoldError(f'{name!r} is not the name of a class. Did you mean {other}?')
    if name.endswith('Error'):
        noun = name.removesuffix('Error') or 'Order'
        examples = [f'{noun}{end}' for end in ('NotFound', 'Rejected', 'Unavailable')]
        raise ScaffoldError(
            f'{name!r} does not say what happened. Name the event, for example '
            f'{join_quoted(examples)}; {name!r} can be the union of such classes.'
        )
    if name in _RESERVED:
        raise ScaffoldError(f'{name!r} is a name that the module imports; choose another one.')
    if len(name) > MAX_NAME_LENGTH:
        raise ScaffoldError(f'{name!r} is longer than {MAX_NAME_LENGTH} characters.')


def imports_of(error: NewError) -> tuple[tuple[str, str], ...]:
    """Return the modules and names that the source imports, in the order of isort."""
    types = {name for field in error.fields for name in field.names if TYPES[name]}
    pairs = {(TYPES[name], name) for name in types}
    pairs |= {('seamwise', 'Category'), ('seamwise', 'TaggedError')}
    pairs |= {('seamwise.seams', seam) for seam in error.seams}
    return tuple(sorted(pairs, key=lambda pair: (pair[0].startswith('seamwise'), pair)))


def module_source(error: NewError) -> str:
    """Return the source of a module with the class and its arms.

    >>> from seamwise.documents.scaffold.fields import parse_field
    >>> new = NewError(
    ...     name='OrderNotFound',
    ...     category=Category.NOT_FOUND,
    ...     fields=(parse_field('uid:int'),),
    ...     seams=('http',),
    ... )
    >>> print(module_source(new).splitlines()[-1])
    ORDER_NOT_FOUND_HTTP = http.on(OrderNotFound).responds(404, "ORDER_NOT_FOUND")
    """
    groups: dict[bool, dict[str, list[str]]] = {False: {}, True: {}}
    for module, name in imports_of(error):
        groups[module.startswith('seamwise')].setdefault(module, []).append(name)
    imports = '\n\n'.join(
        '\n'.join(f'from {module} import {", ".join(names)}' for module, names in group.items())
        for group in groups.values()
        if group
    )
    return f'{imports}\n\n\n{body_source(error, {})}'


def body_source(error: NewError, names: Names) -> str:
    """Return the source of the class and its arms, without imports.

    Args:
        error: The class.
        names: Other names of imported objects, e.g. `{'http': 'http_seam'}`.
    """
    known = {name: names.get(name, name) for _, name in imports_of(error)}
    arms = '\n'.join(_arms(error, known))
    return f'{_class_source(error, known)}\n' + (f'\n\n{arms}\n' if arms else '')


def _class_source(error: NewError, names: Names) -> str:
    fields = sorted(error.fields, key=lambda field: field.is_optional)
    lines = [
        f'class {error.name}(',
        f'    {names["TaggedError"]},',
        f'    category={names["Category"]}.{error.category.name},',
        f'    message={quoted(_message(error))},',
        '):',
        '    """TODO: say when this happens, and what the caller can do about it."""',
    ]
    if fields:
        lines += ['', *(f'    {_renamed(field.line, field, names)}' for field in fields)]
    return '\n'.join(lines)


def _renamed(line: str, field: NewField, names: Names) -> str:
    """Return the line of a field with the names that its module uses."""
    name, _, type_ = line.partition(': ')
    for imported in field.names:
        type_ = re.sub(rf'\b{imported}\b', names.get(imported, imported), type_)
    return f'{name}: {type_}'


def _message(error: NewError) -> str:
    if error.message is not None:
        return error.message
    sentence = default_message(error.name)
    parts = [
        f'{field.name} {field.placeholder}'
        for field in error.fields
        if field.placeholder and not field.is_optional
    ]
    return f'{sentence.removesuffix(".")} ({", ".join(parts)}).' if parts else sentence


def _arms(error: NewError, names: Names) -> Iterator[str]:
    for seam, constant in zip(error.seams, error.constants, strict=True):
        verb, arguments = _VERBS[seam](error)
        yield _call(f'{constant} = {names[seam]}.on', error.name, verb, arguments)


def _call(start: str, kind: str, verb: str, arguments: Sequence[str]) -> str:
    """Return an assignment in the layout of a formatter."""
    line = f'{start}({kind}).{verb}({", ".join(arguments)})'
    if len(line) <= LINE_LENGTH:
        return line
    items = ''.join(f'    {argument},\n' for argument in arguments)
    head = f'{start}({kind}).{verb}('
    if len(head) <= LINE_LENGTH:
        return f'{head}\n{items})'
    return (
        f'{start}(\n    {kind},\n).{verb}(\n{items})'
        if items
        else f'{start}(\n    {kind},\n).{verb}()'
    )


def _http(error: NewError) -> tuple[str, list[str]]:
    status = ANSWERS[error.category].status
    if status is None:
        return 'hidden', []
    return 'responds', [str(status), quoted(_words(error.name, '_').upper())]


def _cli(error: NewError) -> tuple[str, list[str]]:
    return 'exits', [str(ANSWERS[error.category].exit_code)]


def _session(error: NewError) -> tuple[str, list[str]]:
    word = re.sub('[^A-Z]', '', _words(error.name, '_').upper().partition('_')[0]) or 'APP'
    return 'publishes', [quoted(ANSWERS[error.category].event), quoted(f'ERR_{word}_001')]


def _model(error: NewError) -> tuple[str, list[str]]:
    return 'guides', [quoted(ANSWERS[error.category].model_type)]


def _planner(error: NewError) -> tuple[str, list[str]]:
    return 'classifies', [quoted(ANSWERS[error.category].planner_code)]


def _jsonrpc(error: NewError) -> tuple[str, list[str]]:
    return 'answers', [str(ANSWERS[error.category].rpc_code)]


_VERBS: Mapping[str, Callable[[NewError], tuple[str, list[str]]]] = {
    'http': _http,
    'cli': _cli,
    'session': _session,
    'model': _model,
    'planner': _planner,
    'jsonrpc': _jsonrpc,
}

SEAM_NAMES = tuple(_VERBS)
"""The seams with arms."""


def verify(error: NewError) -> None:
    """Create the class and its arms, so that a mistake is found before a file is written.

    Raises:
        ScaffoldError: The class cannot be created, for example because of its message.
    """
    code = compile(module_source(error), '<scaffold>', 'exec')
    try:
        # The source consists of checked names and literals only.
        exec(code, {'__name__': 'scaffold'})  # noqa: S102
    except TypeError as cause:
        raise ScaffoldError(str(cause)) from cause


def _words(name: str, separator: str) -> str:
    """Return a name in camel case as words.

    >>> _words('HTTPOrderNotFound2', '_')
    'HTTP_Order_Not_Found2'
    """
    return re.sub(r'(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])', separator, name)


def duplicates(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once."""
    names = list(names)
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]
