"""Tagged errors: frozen values with typed fields, a category and a message, checked when their class is made."""

from collections.abc import Callable, Mapping, MutableMapping
from inspect import Parameter, signature
from re import sub
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec
from typing_extensions import dataclass_transform, override

from seamwise import _annotations, messages
from seamwise.categories import Category, Recovery

RESERVED = ('category', 'recovery', 'retryable', 'tag')
"""What every error has already; a field must not shadow it."""

TAG_FIELD = '_tag'
"""The key under which a tagged union finds the class on a wire."""

MAX_DELAY = 1e9
"""A `retry_after` of more seconds than this (some 32 years) is a mistake in somebody's computation."""

V = TypeVar('V')


class Traits(msgspec.Struct, frozen=True):
    """What a class says of all its errors: for seams and documents to read."""

    tag: str
    namespace: str
    category: Category
    retryable: bool
    recovery: Recovery
    template: str


_registry: dict[tuple[str, str], 'type[TaggedError]'] = {}


def registered_as(tag: object) -> 'type[TaggedError] | None':
    """Give the class with this tag, where one namespace alone has it; a class local to a function is never found."""
    found = [kind for (_, name), kind in _registry.items() if name == tag]
    return found[0] if len(found) == 1 else None


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class ErrorMeta(msgspec.StructMeta):
    """Turns a class body into a frozen, tagged Struct, after every check that needs no instance."""

    @classmethod
    @override
    def __prepare__(
        cls, name: str, bases: tuple[type, ...], /, **keywords: object
    ) -> MutableMapping[str, object]:
        # Here and not in `__new__`, whose signature type checkers read to find a misspelt keyword.
        known = [
            one.name
            for one in signature(cls.__new__).parameters.values()
            if one.kind is Parameter.KEYWORD_ONLY
        ]
        for keyword in keywords:
            if keyword not in known:
                raise TypeError(
                    f'{name}: an error class takes no keyword {keyword!r}; it takes {", ".join(known)}.'
                )
        return super().__prepare__(name, bases)

    def __new__(  # noqa: D102, PLR0913, PYI034 -- the keywords are documented on TaggedError; checkers want them one by one
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
    ) -> 'ErrorMeta':
        if not any(isinstance(base, ErrorMeta) for base in bases):
            return super().__new__(mcls, name, bases, body, frozen=True)
        _check_leaf(name, bases)
        if category is None:
            raise TypeError(
                f'{name}: an error class needs a category, as in `class {name}(TaggedError, category=Category.CONFLICT, …)`.'
            )
        category = _given(name, 'category', category, Category, category)
        traits = Traits(
            tag=_given(name, 'tag', tag, str, name),
            namespace=_given(
                name, 'namespace', namespace, str, str(body['__module__']).partition('.')[0]
            ),
            category=category,
            retryable=_given(name, 'retryable', retryable, bool, category.retryable),
            recovery=_given(name, 'recovery', recovery, Recovery, category.recovery),
            template=_given(name, 'message', message, str, _in_words(name)),
        )
        annotations = _annotations.of_body(body)
        _check_fields(name, body, annotations)
        body['__traits__'] = traits
        if 'retry_after' in annotations:
            body['__post_init__'] = _checking_delay(body.get('__post_init__'))
        made = super().__new__(
            mcls, name, bases, body, frozen=True, tag=traits.tag, tag_field=TAG_FIELD
        )
        try:
            messages.check_template(
                traits.template, {field: annotations.get(field) for field in made.__struct_fields__}
            )
        except ValueError as reason:
            raise TypeError(
                f'{name}: the message {traits.template!r} does not work: {reason}.'
            ) from None
        _register(made, traits)
        return made


def _given(name: str, keyword: str, value: V | None, kind: type[V], default: V) -> V:
    if value is None:
        return default
    if not isinstance(value, kind):
        raise TypeError(f'{name}: {keyword} must be a {kind.__name__}, not {value!r}.')
    if value == '' and keyword != 'message':
        raise TypeError(f'{name}: {keyword} must not be empty.')
    return value


def _check_leaf(name: str, bases: tuple[type, ...]) -> None:
    for base in bases:
        if isinstance(base, ErrorMeta) and base is not TaggedError:
            raise TypeError(
                f'{name}: {base.__name__} cannot be subclassed, an error class is a leaf. '
                f'Derive from TaggedError, and group by a union: `{name}Error = {base.__name__} | {name}`.'
            )


def _check_fields(name: str, body: Mapping[str, Any], annotations: Mapping[str, Any]) -> None:
    for reserved in RESERVED:
        if reserved in annotations:
            raise TypeError(
                f'{name}: a field must not be called {reserved!r}: every error has that already.'
            )
        if reserved in body and not hasattr(body[reserved], '__get__'):
            raise TypeError(
                f'{name}: say {reserved!r} as a class keyword, or as a property where instances differ.'
            )
    for field, annotation in annotations.items():
        if kind := _annotations.unhashable(annotation):
            raise TypeError(
                f'{name}: the field {field!r} holds a {kind}, so the error could not be hashed; use a tuple or a frozenset.'
            )


def _checking_delay(
    also: Callable[['TaggedError'], None] | None,
) -> Callable[['TaggedError'], None]:
    def check(self: 'TaggedError') -> None:
        delay: object = getattr(self, 'retry_after', None)
        # Who refuses a call makes such an error each time: a float as it should be is not worth a second look.
        if delay is not None and not (type(delay) is float and 0.0 <= delay <= MAX_DELAY):
            check_delay(type(self).__name__, delay)
        if also is not None:
            also(self)

    return check


def check_delay(name: str, seconds: object) -> None:
    """Raise ValueError where `seconds` cannot be a delay: negative, NaN, infinite or beyond `MAX_DELAY`."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(
            f'{name}: retry_after must be a number of seconds or None, not {seconds!r}.'
        )
    if not 0 <= seconds <= MAX_DELAY:
        # An int may have more digits than Python is willing to print.
        given = (
            f'{seconds!r}'
            if isinstance(seconds, float) or abs(seconds) < 10**20
            else 'an integer of more than 20 digits'
        )
        raise ValueError(f'{name}: retry_after must be 0 to {MAX_DELAY:.0f} seconds, not {given}.')


def _register(made: Any, traits: Traits) -> None:
    if '<locals>' in made.__qualname__:
        return
    key = (traits.namespace, traits.tag)
    other: type[TaggedError] = _registry.get(key) or made
    if (other.__module__, other.__qualname__) != (made.__module__, made.__qualname__):
        raise TypeError(
            f'{made.__name__}: the tag {traits.tag!r} of namespace {traits.namespace!r} belongs to '
            f'{other.__module__}.{other.__qualname__} already; give this class another `tag` or `namespace`.'
        )
    _registry[key] = made


def _in_words(name: str) -> str:
    return sub(r'(?<=[a-z0-9])(?=[A-Z])', ' ', name).capitalize() + '.'


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class TaggedError(msgspec.Struct, metaclass=ErrorMeta):
    """The base of every error: a frozen value with typed fields, and no exception.

    Class keywords: `category` (required), `message` (a template over the fields), `tag` (the name on a
    wire, default the class name), `namespace` (default the first package of the module), `retryable` and
    `recovery` (default what the category says). What is wrong with a class is a TypeError where it is made.

    >>> from seamwise import Category
    >>> class DiskFull(TaggedError, category=Category.RESOURCE, message='No room for {size} bytes on {disk!r}.'):
    ...     disk: str
    ...     size: int
    >>> error = DiskFull('sda', 512)
    >>> print(error)
    No room for 512 bytes on 'sda'.
    >>> error.category, error.retryable, error == DiskFull(disk='sda', size=512)
    (<Category.RESOURCE: 'resource'>, True, True)
    """

    __traits__: ClassVar[Traits]

    if TYPE_CHECKING:
        # ty reads class keywords here, pyright in the metaclass; at run time the metaclass takes them.
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
        ) -> None: ...

    @property
    def tag(self) -> str:
        """The name of this error on a wire."""
        return type(self).__traits__.tag

    @property
    def category(self) -> Category:
        """What kind of trouble this is."""
        return type(self).__traits__.category

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return type(self).__traits__.retryable

    @property
    def recovery(self) -> Recovery:
        """What helps."""
        return type(self).__traits__.recovery

    @override
    def __str__(self) -> str:
        return messages.fill(type(self).__traits__.template, self)


def retry_after(error: TaggedError, /) -> float | None:
    """Give the seconds that an error asks to wait, where it has such a field and knows them.

    >>> class Busy(TaggedError, category=Category.CAPACITY):
    ...     retry_after: float | None = None
    >>> retry_after(Busy(2)), retry_after(Busy())
    (2.0, None)
    """
    seconds: object = getattr(error, 'retry_after', None)
    return float(seconds) if isinstance(seconds, (int, float)) else None
