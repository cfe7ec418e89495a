"""Exception classes of a program, bases first."""

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct

from seamwise.check.typed_ast.program import FUNCTIONS, Module, Program

EXCEPTION = 'builtins.Exception'
_CATEGORIES: Sequence[tuple[str, Sequence[str]]] = (
    ('NOT_FOUND', ('missing', 'notfound', 'unknown', 'absent', 'lookup', 'nosuch', 'empty')),
    ('CONFLICT', ('conflict', 'taken', 'exists', 'duplicate', 'already')),
    ('PERMISSION', ('permission', 'forbidden', 'denied', 'notallowed')),
    ('AUTHENTICATION', ('auth', 'login', 'credential')),
    ('TIMEOUT', ('timeout', 'timedout', 'expired', 'toolate')),
    ('CONNECTION', ('connection', 'dropped', 'disconnect')),
    ('RATE_LIMIT', ('ratelimit', 'throttle', 'toomany')),
    ('QUOTA', ('quota',)),
    ('CAPACITY', ('full', 'soldout', 'overload')),
    ('UNAVAILABLE', ('unavailable', 'offline')),
    ('CONFIGURATION', ('config', 'setting')),
    ('VALIDATION', ('invalid', 'bad', 'validation', 'parse', 'syntax', 'format', 'malformed')),
)


class NotMigrated(Struct, frozen=True, order=True):
    """A place that is left as it is, with the reason and the manual change."""

    path: str
    line: int
    name: str
    reason: str
    advice: str


class Field(Struct, frozen=True):
    """A field of a tagged error."""

    name: str
    annotation: str
    default: str | None = None


WRAPPED = 'original'
"""Field of the tagged errors that contain their exception."""


class Kind(Struct, eq=False):
    """An exception class of the program."""

    name: str
    module: Module
    node: ast.ClassDef
    bases: frozenset[str]
    """Full names of the class and its bases."""
    family: str = ''
    """Name of the topmost own base: classes of a family are converted together or not at all."""
    fields: tuple[Field, ...] = ()
    template: str = '{message}'
    has_init: bool = False
    is_raised: bool = False
    has_cause: bool = False
    has_default: bool = False
    """Whether some `raise` passes no text."""
    has_twin: bool = False
    """Whether the exception stays for callers outside, beside a tagged error."""
    is_used: bool = True
    """Whether some converted function needs the tagged error."""
    shows_exception: bool = False
    """Whether the text is that of the exception, because it is computed."""
    is_wrapped: bool = False
    """Whether the tagged error contains the exception, because fields cannot make it again."""

    @property
    def short_name(self) -> str:
        """Name without the module."""
        return self.node.name

    @property
    def error_name(self) -> str:
        """Name of the tagged error."""
        return f'Tagged{self.short_name}' if self.has_twin else self.short_name

    def wrap(self) -> None:
        """Make the exception itself the only field of the tagged error."""
        self.is_wrapped = self.shows_exception = True
        self.has_init = self.has_default = False
        self.fields = (Field(WRAPPED, self.short_name),)

    @property
    def position(self) -> tuple[str, int]:
        """Module and line."""
        return self.module.name, self.node.lineno

    @property
    def category(self) -> str:
        """Name of the category that the name of the class suggests."""
        words = self.short_name.lower().replace('_', '')
        for category, parts in _CATEGORIES:
            if any(part in words for part in parts):
                return category
        if words.startswith('no') and self.short_name[2:3].isupper():
            return 'NOT_FOUND'
        return 'VALIDATION' if words.startswith('too') else 'EXECUTION'


def exception_classes_of(program: Program) -> Iterator[Kind]:
    """Yield the exception classes, bases first."""
    known: dict[str, Kind] = {}
    found = True
    while found:
        found = False
        for module in program.modules:
            for node in module.nodes_of_type(ast.ClassDef):
                name = f'{module.name}.{_qualified(node, module)}'
                bases = [_mro(base, module) for base in node.bases]
                if name not in known and any(EXCEPTION in mro for mro in bases):
                    mro = frozenset({name}.union(*bases))
                    known[name] = Kind(name, module, node, mro)
                    found = True
    # Bases first, because subclasses inherit their fields.
    yield from sorted(known.values(), key=lambda kind: (len(kind.bases), kind.name))


def _qualified(node: ast.AST, module: Module) -> str:
    names = [
        outer.name
        for outer in (node, *module.ancestors(node))
        if isinstance(outer, (ast.ClassDef, *FUNCTIONS))
    ]
    return '.'.join(reversed(names))


def _mro(base: ast.expr, module: Module) -> frozenset[str]:
    class_ = module.class_at(base)
    return frozenset(info.fullname for info in class_.mro) if class_ is not None else frozenset()


def init_template(init: ast.FunctionDef, names: set[str]) -> str | None:
    """Return the template of the message; None if it is computed, or fields are."""
    template: str | None = None
    for statement in init.body:
        match statement:
            case ast.Expr(ast.Constant()):
                pass
            case ast.Expr(
                ast.Call(ast.Attribute(ast.Call(ast.Name('super'), []), '__init__'), [message], [])
            ) if template is None:
                template = _template(message, names)
                if template is None:
                    return None
            case ast.Assign([ast.Attribute(ast.Name('self'), target)], ast.Name(source)) | (
                ast.AnnAssign(ast.Attribute(ast.Name('self'), target), _, ast.Name(source))
            ) if target == source and source in names:
                pass
            case _:
                return None
    return template


def _template(message: ast.expr, names: set[str]) -> str | None:
    """Return the template of a message that only prints parameters; None for any other."""
    match message:
        case ast.Constant(str() as text):
            return _escaped(text)
        case ast.Name(name) if name in names:
            return f'{{{name}}}'
        case ast.JoinedStr(parts):
            return (
                None
                if (texts := [_part(part, names) for part in parts]) and None in texts
                else (''.join(text for text in texts if text is not None))
            )
        case _:
            return None


def _part(part: ast.expr, names: set[str]) -> str | None:
    match part:
        case ast.Constant(str() as text):
            return _escaped(text)
        case ast.FormattedValue(ast.Name(name), conversion, spec) if name in names:
            shown = f'!{chr(conversion)}' if conversion != -1 else ''
            match spec:
                case None:
                    return f'{{{name}{shown}}}'
                case ast.JoinedStr([ast.Constant(str() as text)]):
                    return f'{{{name}{shown}:{text}}}'
                case _:
                    return None
        case _:
            return None


def _escaped(text: str) -> str:
    return text.replace('{', '{{').replace('}', '}}')
