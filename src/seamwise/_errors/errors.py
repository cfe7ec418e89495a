"""Tagged errors: frozen values with typed fields, a category and a message."""

import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextvars import ContextVar
from functools import partial
from inspect import Parameter, signature
from re import sub
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

import msgspec
from typing_extensions import dataclass_transform, override

from seamwise._errors import messages, type_hints
from seamwise._errors.categories import Category, Recovery
from seamwise._errors.reported import deep_copy, portable

RESERVED = ('category', 'recovery', 'retryable', 'tag')
"""Attributes of every error; a field must not shadow them."""

TAG_FIELD = '_tag'
"""Key of the tag in a JSON object."""

MAX_DELAY = 1e9
"""Maximum of `retry_after` in seconds, about 32 years; larger values are rejected as mistakes."""

V = TypeVar('V')
E = TypeVar('E', bound='TaggedError')

_STRUCT: Final[Any] = msgspec.Struct

HIDES_INTERNAL: Final[ContextVar[bool]] = ContextVar('seamwise_hides_internal', default=False)
"""Whether texts of errors have no internal fields: a seam prints a value that contains them."""


class Traits(msgspec.Struct, frozen=True):
    """Properties that all errors of a class share; seams and documentation read them."""

    tag: str
    namespace: str
    category: Category
    retryable: bool
    recovery: Recovery
    template: str
    public: str | None
    """The class keyword `public`: the template of the message for clients, if it is another one."""
    internal: frozenset[str]
    """Names of the fields that clients do not see; see `Internal`."""


_registry: dict[tuple[str, str], 'type[TaggedError]'] = {}


def find_by_tag(tag: object) -> 'type[TaggedError] | None':
    """Return the class with this tag, or None unless exactly one namespace has it.

    Classes that are local to a function are not registered.
    """
    classes = [class_ for (_, name), class_ in _registry.items() if name == tag]
    return classes[0] if len(classes) == 1 else None


def iter_registered() -> 'Iterator[type[TaggedError]]':
    """Yield all error classes, except those that are local to a function.

    >>> from seamwise.catalog.tools import FileNotFound
    >>> FileNotFound in iter_registered()
    True
    """
    return iter([*_registry.values()])


_observers: 'list[Callable[[type[TaggedError]], object]]' = []


def for_each_class(callback: 'Callable[[type[TaggedError]], object]', /) -> None:
    """Call a function with every error class: those that exist, and later ones."""
    _observers.append(callback)
    for class_ in TaggedError.__subclasses__():
        callback(class_)


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class ErrorMeta(msgspec.StructMeta):
    """Metaclass of error classes: checks the class body and creates a frozen, tagged Struct."""

    @classmethod
    @override
    def __prepare__(
        cls, name: str, bases: tuple[type, ...], /, **keywords: object
    ) -> MutableMapping[str, object]:
        # Checked here, because type checkers read the signature of `__new__` to find misspelt
        # keywords: it must not accept any other.
        accepted = [
            parameter.name
            for parameter in signature(cls.__new__).parameters.values()
            if parameter.kind is Parameter.KEYWORD_ONLY
        ]
        for keyword in keywords:
            if keyword not in accepted:
                raise TypeError(
                    f'{name}: unknown class keyword {keyword!r}; '
                    f'an error class accepts {", ".join(accepted)}.'
                )
        return super().__prepare__(name, bases)

    def __new__(  # noqa: PLR0913, PYI034 -- documented on TaggedError
        mcls,
        name: str,
        bases: tuple[type, ...],
        body: dict[str, Any],
        /,
        *,
        tag: str | None = None,
        namespace: str | None = None,
        category: Category | None = None,
        retryable: bool | None = None,
        recovery: Recovery | None = None,
        message: str | None = None,
        public: str | None = None,
        kw_only: bool = False,
    ) -> 'ErrorMeta':
        if not any(isinstance(base, ErrorMeta) for base in bases):
            return super().__new__(mcls, name, bases, body, frozen=True)
        _check_bases(name, bases)
        if category is None:
            raise TypeError(
                f'{name}: an error class needs a category, '
                f'as in `class {name}(TaggedError, category=Category.CONFLICT, …)`.'
            )
        category = _checked_keyword(name, 'category', category, Category, category)
        # A class that is created by a call has no module, unlike one with a body.
        module: str = body.get('__module__') or sys._getframe(1).f_globals.get('__name__', '')
        body = {**body, '__module__': module}
        annotations = {
            **type_hints.of_bases(bases),
            **type_hints.resolved(type_hints.of_body(body), module),
        }
        _check_reserved(name, bases, body)
        _check_fields(name, annotations)
        body |= _checked_defaults(name, annotations, body)
        traits = Traits(
            tag=_checked_keyword(name, 'tag', tag, str, name),
            namespace=_checked_keyword(name, 'namespace', namespace, str, module.partition('.')[0]),
            category=category,
            retryable=_checked_keyword(name, 'retryable', retryable, bool, category.retryable),
            recovery=_checked_keyword(name, 'recovery', recovery, Recovery, category.recovery),
            template=_checked_keyword(name, 'message', message, str, default_message(name)),
            public=None if public is None else _checked_keyword(name, 'public', public, str, ''),
            internal=frozenset(
                field
                for field, annotation in annotations.items()
                if type_hints.is_internal(annotation)
            ),
        )
        body['__traits__'] = traits
        if 'retry_after' in annotations:
            body['__post_init__'] = _delay_check(_inherited('__post_init__', bases, body))
        try:
            class_ = super().__new__(
                mcls,
                name,
                bases,
                body,
                tag=traits.tag,
                tag_field=TAG_FIELD,
                kw_only=_checked_keyword(name, 'kw_only', kw_only, bool, kw_only),
                # A base can have other options, but errors are JSON objects and compared by value.
                frozen=True,
                eq=True,
                array_like=False,
            )
        except (TypeError, ValueError) as error:
            # The messages of msgspec do not name the class.
            raise TypeError(f'{name}: {error}') from error
        fields = {field: annotations.get(field) for field in class_.__struct_fields__}
        _check_template(name, 'message', traits.template, fields)
        if traits.public is not None:
            _check_public(name, traits, fields)
        _register(class_, traits)
        _notify_observers(class_)
        return class_


def _check_template(name: str, keyword: str, template: str, fields: Mapping[str, object]) -> None:
    try:
        messages.validate_template(template, fields)
    except ValueError as error:
        raise TypeError(f'{name}: the {keyword} {template!r} does not work: {error}.') from None


def _check_public(name: str, traits: Traits, fields: Mapping[str, object]) -> None:
    template = traits.public or ''
    _check_template(name, 'public message', template, fields)
    for field in sorted(messages.field_names(template)):
        if field in traits.internal:
            kind = 'internal'
        elif type_hints.is_secret(fields[field]):
            kind = 'secret'
        elif field == 'cause':
            kind = 'not for clients'
        else:
            continue
        raise TypeError(
            f'{name}: the public message {template!r} prints the field {field!r}, which is {kind}; '
            'remove it from `public`.'
        )


_HASHABLE: Mapping[str, str] = dict.fromkeys(
    ('Mapping', 'MutableMapping', 'dict', 'Dict'), 'a tuple of pairs or a frozen Struct'
)


def _checked_keyword(name: str, keyword: str, value: V | None, type_: type[V], default: V) -> V:
    if value is None:
        return default
    if not isinstance(value, type_):
        raise TypeError(f'{name}: {keyword} must be a {type_.__name__}, not {value!r}.')
    if value == '' and keyword != 'message':
        raise TypeError(f'{name}: {keyword} must not be empty.')
    return value


def _check_bases(name: str, bases: tuple[type, ...]) -> None:
    for base in bases:
        if isinstance(base, ErrorMeta) and base is not TaggedError:
            raise TypeError(
                f'{name}: the error class {base.__name__} cannot be subclassed. Derive from '
                f'TaggedError, and group by a union: `{name}Error = {base.__name__} | {name}`.'
            )
        if issubclass(base, BaseException):
            raise TypeError(
                f'{name}: an error is a value, not an exception; remove the base {base.__name__}. '
                'Where code needs an exception, use `or_raise(Failure(error))`.'
            )


def _inherited(attribute: str, bases: tuple[type, ...], body: Mapping[str, Any]) -> Any:
    """Return an attribute of a class body, or the one that its bases have."""
    default: object = next(
        (getattr(base, attribute) for base in bases if hasattr(base, attribute)), None
    )
    return body.get(attribute, default)


def _check_reserved(name: str, bases: tuple[type, ...], body: Mapping[str, Any]) -> None:
    ancestors = [ancestor for base in bases for ancestor in base.__mro__]
    fields = {field for base in bases for field in getattr(base, '__struct_fields__', ())}
    for reserved in RESERVED:
        if reserved in fields or reserved in type_hints.of_body(body):
            raise TypeError(
                f'{name}: {reserved!r} is an attribute of every error; rename this field.'
            )
        for namespace in [body, *map(vars, ancestors)]:
            # A method would be a true value in every condition.
            if not isinstance(namespace.get(reserved, property()), property):
                raise TypeError(
                    f'{name}: set {reserved!r} as a class keyword; if instances differ, '
                    'as a property.'
                )


def _check_fields(name: str, annotations: Mapping[str, Any]) -> None:
    for field, annotation in annotations.items():
        if type_hints.is_class_variable(annotation):
            continue
        if type_hints.contains_result(annotation):
            raise TypeError(
                f'{name}: the field {field!r} contains a Result; declare a field for its value or '
                'its error.'
            )
        if container := type_hints.unhashable(annotation):
            raise TypeError(
                f'{name}: an error must be hashable, but the field {field!r} contains a '
                f'{container}; use {_HASHABLE.get(container, "a tuple or a frozenset")}.'
            )
        if {TaggedError, 'TaggedError'} & {*type_hints.iter_types(annotation)}:
            raise TypeError(
                f'{name}: the field {field!r} has the type TaggedError, which no decoder can '
                'create; use `Cause | None` for any error, or a union of error classes.'
            )


_MUTABLE: frozenset[object] = frozenset({list, dict, set})


def _checked_defaults(
    name: str, annotations: Mapping[str, object], body: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the defaults that must replace those of a class body.

    Raises:
        TypeError: A default cannot be hashed.
    """
    replacements: dict[str, Any] = {}
    for field, annotation in annotations.items():
        if field not in body or type_hints.is_class_variable(annotation):
            continue
        default = body[field]
        encoded_name: str | None = None
        if hasattr(default, 'default_factory'):
            # The value of `msgspec.field`.
            encoded_name = default.name
            factory = default.default_factory
            default = factory() if factory in _MUTABLE else default.default
        try:
            hash(default)
        except TypeError as error:
            raise TypeError(
                f'{name}: an error must be hashable, but the default of the field {field!r} is '
                f'not ({error}); use a tuple or a frozenset.'
            ) from None
        if default is not msgspec.NODEFAULT and not _has_builtins(default):
            replacements[field] = msgspec.field(
                default_factory=partial(_same, default), name=encoded_name
            )
    return replacements


def _has_builtins(default: object) -> bool:
    """Return whether msgspec can write a default into a JSON Schema: a secret, for one, it cannot.

    It leaves out the values of a factory.
    """
    try:
        msgspec.to_builtins(default, str_keys=True)
    except TypeError:
        return False
    return True


def _same(default: object) -> object:
    return default


def _delay_check(
    post_init: Callable[['TaggedError'], None] | None,
) -> Callable[['TaggedError'], None]:
    """Return a `__post_init__` that checks `retry_after` and then calls the one of the class."""

    def check(self: 'TaggedError') -> None:
        delay: object = getattr(self, 'retry_after', None)
        # The check of a valid float is inlined: a guard creates one error per refused call.
        if delay is not None and not (type(delay) is float and 0.0 <= delay <= MAX_DELAY):
            check_delay(type(self).__name__, delay)
        if post_init is not None:
            post_init(self)

    return check


def check_delay(name: str, seconds: object) -> None:
    """Raise ValueError unless 0 <= `seconds` <= `MAX_DELAY`, TypeError if it is no number."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(
            f'{name}: retry_after must be a number of seconds or None, not {seconds!r}.'
        )
    if not 0 <= seconds <= MAX_DELAY:
        # Python refuses to print integers of more than 4,300 digits.
        value = (
            f'{seconds!r}'
            if isinstance(seconds, float) or abs(seconds) < 10**20
            else 'an integer of more than 20 digits'
        )
        raise ValueError(f'{name}: retry_after must be 0 to {MAX_DELAY:.0f} seconds, not {value}.')


def _register(class_: Any, traits: Traits) -> None:
    if '<locals>' in class_.__qualname__:
        return
    key = (traits.namespace, traits.tag)
    registered: type[TaggedError] = _registry.get(key) or class_
    path, own_path = (f'{type_.__module__}.{type_.__qualname__}' for type_ in (registered, class_))
    # A module that is reloaded registers its classes again.
    if path != own_path:
        raise TypeError(
            f'{class_.__name__}: {path} already has the tag {traits.tag!r} in namespace '
            f'{traits.namespace!r}; give this class another `tag` or `namespace`.'
        )
    _registry[key] = class_


def _notify_observers(class_: Any) -> None:
    for callback in _observers:
        callback(class_)


def default_message(name: str) -> str:
    """Return the message of an error class without a template: its name in words.

    >>> default_message('DiskFull')
    'Disk full.'
    """
    return sub(r'(?<=[a-z0-9])(?=[A-Z])', ' ', name).capitalize() + '.'


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class TaggedError(msgspec.Struct, metaclass=ErrorMeta):
    """Base class of errors: frozen values with typed fields, not exceptions.

    An invalid class definition raises TypeError. Class keywords:

    - `category` is required.
    - `message` is a template of the fields, by default the name of the class in words.
    - `public` is the template of the message for clients. It is needed where `message` prints an
      `Internal` field; by default clients then see the general sentence of the category.
    - `tag` is the name on a wire, by default the name of the class.
    - `namespace` is by default the first package of the module.
    - `retryable` and `recovery` default to those of the category.
    - `kw_only=True` makes the fields of the class keyword-only.

    >>> from seamwise import Category
    >>> class DiskFull(TaggedError, category=Category.RESOURCE, message='No space on {disk!r}.'):
    ...     disk: str
    ...     size: int
    >>> error = DiskFull('sda', 512)
    >>> print(error)
    No space on 'sda'.
    >>> error.category, error.retryable, error == DiskFull(disk='sda', size=512)
    (<Category.RESOURCE: 'resource'>, True, True)
    """

    __traits__: ClassVar[Traits]

    if TYPE_CHECKING:
        # For ty; pyright and the run time read the class keywords of the metaclass.
        @override
        def __init_subclass__(
            cls,
            *,
            tag: str | None = None,
            namespace: str | None = None,
            category: Category | None = None,
            retryable: bool | None = None,
            recovery: Recovery | None = None,
            message: str | None = None,
            public: str | None = None,
            kw_only: bool = False,
        ) -> None: ...
    else:

        def __post_init__(self) -> None:
            raise TypeError(
                'TaggedError is the base class of errors; create an instance of an error class.'
            )

    @property
    def tag(self) -> str:
        """Name of this error on a wire."""
        return type(self).__traits__.tag

    @property
    def category(self) -> Category:
        """Category of this error."""
        return type(self).__traits__.category

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return type(self).__traits__.retryable

    @property
    def recovery(self) -> Recovery:
        """Next step that resolves this error."""
        return type(self).__traits__.recovery

    @override
    def __repr__(self) -> str:
        internal = type(self).__traits__.internal
        if internal and HIDES_INTERNAL.get():
            names = (name for name in self.__struct_fields__ if name not in internal)
            fields = ', '.join(f'{name}={getattr(self, name)!r}' for name in names)
            return f'{type(self).__name__}({fields})'
        text: str = _STRUCT.__repr__(self)
        return text

    @override
    def __str__(self) -> str:
        if type(self).__traits__.internal and HIDES_INTERNAL.get():
            return repr(self)
        # The problems are only for developers: a seam shows them in its own form.
        return messages.append_problems(messages.fill(type(self).__traits__.template, self), self)

    @override
    def __reduce__(self) -> Any:
        sent = self
        for field in self.__struct_fields__:
            value: object = getattr(self, field)
            if (other := portable(value)) is not value:
                sent = with_field(sent, field, other)
        return _STRUCT.__reduce__(sent)

    def __deepcopy__(self, memo: dict[int, Any]) -> 'TaggedError':
        copy = self
        for field in self.__struct_fields__:
            value: object = getattr(self, field)
            if (other := deep_copy(value, memo)) is not value:
                copy = with_field(copy, field, other)
        return copy


# msgspec has stored the function for this class. Without the attribute, subclasses do not inherit
# it, and creating them costs nothing more.
type.__delattr__(TaggedError, '__post_init__')


def with_field(error: E, field: str, value: object, /) -> E:
    """Return a copy of an error with another value of a field, without its `__post_init__`."""
    # Not `copy.copy`, which calls a `__copy__` of the class.
    copy: E = _STRUCT.__copy__(error)
    msgspec.structs.force_setattr(copy, field, value)
    return copy


def retry_after(error: TaggedError, /) -> float | None:
    """Return the delay in seconds that an error requests before a retry, or None.

    >>> class Busy(TaggedError, category=Category.CAPACITY):
    ...     retry_after: float | None = None
    >>> retry_after(Busy(2)), retry_after(Busy())
    (2.0, None)
    """
    seconds: object = getattr(error, 'retry_after', None)
    return float(seconds) if isinstance(seconds, (int, float)) else None
