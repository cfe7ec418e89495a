"""Exception classes of a program, and the tagged errors that they can become."""

import ast
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from seamwise.check._mypy.nodes import RefExpr, TypeAlias, TypeInfo
from seamwise.check._mypy.types import AnyType
from seamwise.check.inference.exception_flow.sites import exception_classes
from seamwise.check.migrate.expectations import (
    Expectation,
    column,
    naming_expectation,
    parametrized,
    readings,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Module, Program

_EXCEPTION = 'builtins.Exception'
_RESERVED = frozenset({'category', 'recovery', 'retryable', 'tag', 'cause', 'retry_after'})
_MAX_PRINTED = ('str', 'print', 'type', 'isinstance', 'format')
_PRINTING_METHODS = frozenset(
    {'echo', 'secho', 'debug', 'info', 'warning', 'error', 'critical', 'exit'}
)
_UNHASHABLE = frozenset({'list', 'dict', 'set', 'List', 'Dict', 'Set', 'bytearray', 'Any'})
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

    @property
    def short_name(self) -> str:
        """Name without the module."""
        return self.node.name

    @property
    def error_name(self) -> str:
        """Name of the tagged error."""
        return f'Tagged{self.short_name}' if self.has_twin else self.short_name

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


class Kinds:
    """The exception classes of a program, and the reasons why some are kept."""

    def __init__(
        self, program: Program, refused: Mapping[str, NotMigrated], *, is_keeping: bool = False
    ) -> None:
        """Read the classes and their uses.

        Args:
            program: The modules.
            refused: Reasons against families, from earlier attempts.
            is_keeping: Whether exceptions stay beside the tagged errors, so that each class of a
                family can be converted without the others.
        """
        self.is_keeping = is_keeping
        self.all = {kind.name: kind for kind in _exception_classes(program)}
        self._children: dict[str, list[Kind]] = {}
        for kind in self.all.values():
            own = [base for base in kind.bases if base in self.all]
            top = min(own, key=lambda base: len(self.all[base].bases))
            kind.family = kind.name if is_keeping else top
            for base in own:
                self._children.setdefault(base, []).append(kind)
        self.refused = dict(refused)
        """The first reason against each family."""
        self.variables: dict[tuple[ast.AST, str], list[Kind]] = {}
        """Classes that a parameter of a test may have, by its function and name."""
        self._groups: list[tuple[list[Kind], Module, int]] = []
        """Classes that are converted together or not at all, with the place that needs it."""
        for kind in self.all.values():
            self._read_class(kind)
        for module in program.modules:
            self._read_uses(module)
        self.all = dict(sorted(self.all.items(), key=lambda item: item[1].position))
        for kinds in self._children.values():
            kinds.sort(key=lambda kind: kind.position)
        for kind in self.converted():
            if (
                not is_keeping
                and self.is_alias(kind)
                and any(member.module is not kind.module for member in self.members(kind.name))
            ):
                self.refuse(kind, kind.module, kind.node.lineno, 'has subclasses in other modules')
        self._refuse_groups()

    def _refuse_groups(self) -> None:
        for kinds in self.variables.values():
            for kind in kinds:
                if self.is_alias(kind):
                    reason = 'is a value, which the union of its subclasses cannot be'
                    self.refuse(kind, kind.module, kind.node.lineno, reason)
        is_changed = True
        while is_changed:
            is_changed = False
            for kinds, module, line in self._groups:
                kept = [kind for kind in kinds if not self.is_converted(kind)]
                if kept and len(kept) < len(kinds):
                    is_changed = True
                    for kind in kinds:
                        reason = f'is expected together with `{kept[0].short_name}`, which is kept'
                        self.refuse(kind, module, line, reason)

    def refuse(self, kind: Kind, module: Module, line: int, reason: str, advice: str = '') -> None:
        """Keep the family of a class as exceptions."""
        self.refused.setdefault(
            kind.family,
            NotMigrated(
                str(module.path),
                line,
                kind.short_name,
                reason,
                advice or 'Convert the class and its uses by hand.',
            ),
        )

    def is_converted(self, kind: Kind) -> bool:
        """Return whether a class becomes a tagged error."""
        return kind.family not in self.refused

    def converted(self) -> list[Kind]:
        """Return the classes that become tagged errors, or the alias of several."""
        return [kind for kind in self.all.values() if self.is_converted(kind)]

    def is_alias(self, kind: Kind) -> bool:
        """Return whether a base class becomes the union of its subclasses."""
        return not kind.is_raised and len(self._children[kind.name]) > 1

    def members(self, name: str) -> list[Kind]:
        """Return the classes that a class covers, without those that become an alias."""
        return [kind for kind in self._children.get(name, ()) if not self.is_alias(kind)]

    def covered(self, names: Iterable[str]) -> set[str]:
        """Return the names of the converted classes that are subclasses of some classes."""
        wanted = frozenset(names)
        return {
            kind.name
            for kind in self.converted()
            if not self.is_alias(kind) and kind.bases & wanted
        }

    def has_kept_classes(self, names: Iterable[str]) -> bool:
        """Return whether some classes also cover one that only stays an exception."""
        wanted = frozenset(names)
        return any(kind.bases & wanted for kind in self.all.values() if not self.is_converted(kind))

    # Definitions

    def _read_class(self, kind: Kind) -> None:
        node, module = kind.node, kind.module
        foreign = [
            base for base in node.bases if module.full_name(base) not in {_EXCEPTION, *self.all}
        ]
        is_unusual = len(node.bases) != 1 or foreign or node.keywords or node.decorator_list
        if is_unusual and not self.is_keeping:
            self.refuse(
                kind,
                module,
                node.lineno,
                'has a base class, keyword or decorator that no error has',
            )
            return
        if not isinstance(module.parents.get(node), ast.Module):
            self.refuse(kind, module, node.lineno, 'is not defined at the top of its module')
            return
        for index, statement in enumerate(node.body):
            match statement:
                case ast.Pass() | ast.Expr(ast.Constant(value=types.EllipsisType())):
                    pass
                case ast.Expr(ast.Constant(str())) if index == 0:
                    pass
                case ast.FunctionDef(name='__init__') if self._read_init(kind, statement):
                    kind.has_init = True
                case ast.FunctionDef() if self.is_keeping and statement.name != '__init__':
                    kind.shows_exception |= statement.name == '__str__'
                case _:
                    self.refuse(
                        kind,
                        module,
                        statement.lineno,
                        'has a class body that is not only fields and a message',
                    )
        kind.has_twin = self.is_keeping
        parent = self.all.get(module.full_name(node.bases[0]))
        if parent is not None:
            kind.shows_exception |= parent.shows_exception
        if not kind.has_init and parent is not None:
            # The bases come first in a file, except where it could not be imported.
            kind.has_init = parent.has_init
            kind.fields, kind.template = parent.fields, parent.template
        if not kind.has_init:
            kind.fields = (Field('message', 'str'),)

    def _read_init(self, kind: Kind, init: ast.FunctionDef) -> bool:
        arguments = init.args
        parameters = arguments.args[1:]
        if (
            arguments.vararg
            or arguments.kwarg
            or arguments.kwonlyargs
            or arguments.posonlyargs
            or init.decorator_list
            or (
                any(parameter.annotation is None for parameter in parameters)
                and not self.is_keeping
            )
        ):
            return False
        names = {parameter.arg for parameter in parameters}
        if names & _RESERVED:
            return False
        template = self._init_template(init, names)
        if template is None:
            if not self.is_keeping:
                return False
            kind.shows_exception = True
        defaults: list[ast.expr | None] = [None] * (len(parameters) - len(arguments.defaults))
        defaults += arguments.defaults
        if not all(default is None or isinstance(default, ast.Constant) for default in defaults):
            return False
        fields: list[Field] = []
        for parameter, default in zip(parameters, defaults, strict=True):
            annotation = parameter.annotation
            if annotation is not None and any(
                isinstance(part, ast.Name) and part.id in _UNHASHABLE
                for part in ast.walk(annotation)
            ):
                return False
            fields.append(
                Field(
                    parameter.arg,
                    'object' if annotation is None else ast.unparse(annotation),
                    None if default is None else ast.unparse(default),
                )
            )
        kind.fields, kind.template = tuple(fields), template or ''
        return True

    def _init_template(self, init: ast.FunctionDef, names: set[str]) -> str | None:
        """Return the template of the message; None if it is computed, or fields are."""
        template: str | None = None
        for statement in init.body:
            match statement:
                case ast.Expr(ast.Constant()):
                    pass
                case ast.Expr(
                    ast.Call(
                        ast.Attribute(ast.Call(ast.Name('super'), []), '__init__'), [message], []
                    )
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

    # Uses

    def _read_uses(self, module: Module) -> None:
        for node_type in (ast.Name, ast.Attribute):
            for node in module.nodes_of_type(node_type):
                kind = self.all.get(module.full_name(node))
                if kind is None:
                    continue
                is_known = self._is_known_use(kind, node, module)
                if self.is_keeping and not isinstance(_statement(node, module), ast.Raise):
                    # The exception stays, so that any other use remains right.
                    continue
                if not is_known:
                    self.refuse(kind, module, node.lineno, _use(node, module))

    def _is_known_use(self, kind: Kind, node: ast.expr, module: Module) -> bool:
        parent = module.parents.get(node)
        match parent:
            case ast.ClassDef():
                return node in parent.bases
            case ast.Raise():
                kind.is_raised = True
                kind.has_default = True
                return parent.exc is node and (not kind.has_init or _has_all_defaults(kind))
            case ast.Call() if (expectation := naming_expectation(node, module)) is not None:
                return self._is_known_expectation(expectation, module)
            case ast.Call():
                statement = module.parents.get(parent)
                if parent.func is node and isinstance(statement, ast.Raise):
                    kind.is_raised = True
                    return statement.exc is parent and self._is_known_call(kind, parent, module)
                return (
                    isinstance(parent.func, ast.Name)
                    and parent.func.id == 'isinstance'
                    and node in parent.args[1:]
                )
            case ast.ExceptHandler():
                return not isinstance(module.parents.get(parent), ast.TryStar)
            case ast.Tuple() if (expectation := naming_expectation(node, module)) is not None:
                return self._is_known_expectation(expectation, module)
            case ast.Tuple() | ast.List() if parametrized(node, module) is not None:
                return self._is_known_parameter(node, module)
            case ast.Tuple():
                outer = module.parents.get(parent)
                return isinstance(outer, ast.ExceptHandler) and not isinstance(
                    module.parents.get(outer), ast.TryStar
                )
            case _:
                return False

    def _is_known_expectation(self, expectation: Expectation, module: Module) -> bool:
        """Return whether a test expects own classes only, and reads what a tagged error has."""
        kinds = self.named(expectation.classes, module)
        if kinds is None:
            return False
        self._groups.append((kinds, module, expectation.call.lineno))
        return all(
            _is_known_result(name, expectation, kind, module)
            for name in readings(expectation, module)
            for kind in kinds
        )

    def _is_known_parameter(self, node: ast.expr, module: Module) -> bool:
        found = parametrized(node, module)
        if found is None:
            return False
        call, name = found
        kinds = self.named(column(call, node), module)
        if kinds is None:
            return False
        self.variables[module.scope_of(call), name] = kinds
        self._groups.append((kinds, module, call.lineno))
        return True

    def named(self, nodes: Sequence[ast.expr], module: Module) -> list[Kind] | None:
        """Return the classes that some expressions name; None if one names something else."""
        kinds: list[Kind] = []
        for node in nodes:
            kind = self.all.get(module.full_name(node))
            variable = (
                self.variables.get((module.scope_of(node), node.id))
                if isinstance(node, ast.Name)
                else None
            )
            if kind is None and variable is None:
                return None
            kinds += [kind] if kind is not None else variable or []
        return kinds

    def _is_known_call(self, kind: Kind, call: ast.Call, module: Module) -> bool:
        statement = module.parents.get(call)
        if isinstance(statement, ast.Raise) and statement.cause is not None:
            if isinstance(statement.cause, ast.Name):
                kind.has_cause = True
            elif not (isinstance(statement.cause, ast.Constant) and statement.cause.value is None):
                return False
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            return False
        if kind.has_init:
            return all(keyword.arg is not None for keyword in call.keywords)
        if not call.args:
            kind.has_default = True
        return (
            not call.keywords
            and len(call.args) <= 1
            and all(_is_text(argument, module) for argument in call.args)
        )

    def read_handler(
        self, handler: ast.ExceptHandler, module: Module, names: Iterable[str]
    ) -> None:
        """Refuse classes that reach a handler which reads what only an exception has."""
        if handler.name is None:
            return
        for name in names:
            kind = self.all[name]
            for statement in handler.body:
                for node in ast.walk(statement):
                    if (
                        isinstance(node, ast.Name)
                        and node.id == handler.name
                        and not _is_known_reading(node, kind, module)
                    ):
                        self.refuse(
                            kind,
                            module,
                            node.lineno,
                            'is passed on as an exception, or read in a way that only exceptions'
                            ' have',
                        )


def _use(node: ast.expr, module: Module) -> str:
    """Return the reason why a use of a class prevents its conversion."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.ExceptHandler | ast.Tuple):
        outer = module.parents.get(parent)
        if isinstance(outer, ast.TryStar) or isinstance(
            module.parents.get(outer or parent), ast.TryStar
        ):
            return 'is caught in an exception group, which contains exceptions only'
    if naming_expectation(node, module) is not None:
        return 'is expected by a test together with foreign exceptions, or read there as one'
    if isinstance(parent, ast.Call) and parent.func is node:
        if isinstance(module.parents.get(parent), ast.Raise):
            return 'is raised with arguments that are not one text, or not its fields'
        return 'is created without being raised in the same statement'
    if isinstance(parent, ast.Attribute):
        return 'has an attribute that is read from the class'
    return 'is used as a value, or in an annotation'


def _statement(node: ast.expr, module: Module) -> ast.AST | None:
    """Return the `raise` of a class or of its call; None for any other use."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.Call) and parent.func is node:
        parent = module.parents.get(parent)
    return parent


def handler_classes(handler: ast.ExceptHandler, module: Module) -> list[str]:
    """Return the full names of the classes that a handler names; an unknown one is empty."""
    if handler.type is None:
        return ['builtins.BaseException']
    items = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return [_class_name(item, module) for item in items]


_FOREIGN = 'foreign'


def _class_name(node: ast.expr, module: Module) -> str:
    """Return the full name of a class, some name if it is foreign, or an empty text."""
    reference = module.mypy_node(node)
    definition = reference.node if isinstance(reference, RefExpr) else None
    if isinstance(definition, TypeInfo | TypeAlias):
        return module.full_name(node)
    # A name from a package without types cannot be a class of this program.
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    types = module.types_of(root)
    is_untyped = bool(types) and all(isinstance(type_, AnyType) for type_ in types)
    classes = exception_classes(node, module) if not is_untyped else ()
    names = [class_.name for class_ in classes]
    return _FOREIGN if is_untyped else names[0] if len(names) == 1 else ''


def _is_known_result(name: ast.Name, expectation: Expectation, kind: Kind, module: Module) -> bool:
    match module.parents.get(name):
        case ast.Attribute(_, 'match') as method:
            parent = module.parents.get(method)
            return not expectation.is_method and isinstance(parent, ast.Call)
        case ast.Attribute(_, attribute) as reading:
            return attribute == expectation.attribute and _is_known_reading(reading, kind, module)
        case _:
            return False


def _is_known_reading(node: ast.expr, kind: Kind, module: Module) -> bool:
    parent = module.parents.get(node)
    match parent:
        case ast.Call(ast.Name(function), arguments, _) if node in arguments:
            return function in _MAX_PRINTED
        case ast.Call(ast.Attribute(_, method), arguments, _) if node in arguments:
            return method in _PRINTING_METHODS
        case ast.FormattedValue(_, conversion, spec):
            return conversion in {-1, 115} and spec is None
        case ast.Attribute(_, attribute):
            return (
                isinstance(parent.ctx, ast.Load)
                and kind.has_init
                and attribute in {field.name for field in kind.fields}
            )
        case ast.Raise():
            return True
        case _:
            return False


def _has_all_defaults(kind: Kind) -> bool:
    return all(field.default is not None for field in kind.fields)


def _is_text(node: ast.expr, module: Module) -> bool:
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    types = module.types_of(node)
    return bool(types) and all(
        str(type_).removesuffix('?') in _TEXT_TYPES or str(type_).startswith("Literal['")
        for type_ in types
    )


_TEXT_TYPES = frozenset({'str', 'builtins.str'})


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


def _exception_classes(program: Program) -> Iterator[Kind]:
    known: dict[str, Kind] = {}
    found = True
    while found:
        found = False
        for module in program.modules:
            for node in module.nodes_of_type(ast.ClassDef):
                name = f'{module.name}.{_qualified(node, module)}'
                bases = [_mro(base, module) for base in node.bases]
                if name not in known and any(_EXCEPTION in mro for mro in bases):
                    mro = frozenset({name}.union(*bases))
                    known[name] = Kind(name, module, node, mro)
                    found = True
    # Bases first, because subclasses inherit their fields.
    yield from sorted(known.values(), key=lambda kind: (len(kind.bases), kind.name))


def _qualified(node: ast.AST, module: Module) -> str:
    names: list[str] = []
    current: ast.AST | None = node
    while current is not None:
        if isinstance(current, (ast.ClassDef, *FUNCTIONS)):
            names.append(current.name)
        current = module.parents.get(current)
    return '.'.join(reversed(names))


def _mro(base: ast.expr, module: Module) -> frozenset[str]:
    reference = module.mypy_node(base)
    if isinstance(reference, RefExpr) and isinstance(reference.node, TypeInfo):
        return frozenset(info.fullname for info in reference.node.mro)
    return frozenset()
