"""Copies of exceptions without secrets, for log handlers that read `exc_info`."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from enum import Enum
from operator import is_
from types import (
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
    NoneType,
    TracebackType,
)
from typing import Any, Final

import msgspec

from seamwise._defects.entries import DEFECT_KEY, attributes_of
from seamwise._defects.quoted_secrets import quoted_secrets
from seamwise._errors.causes import members
from seamwise._errors.errors import TaggedError
from seamwise._text.safe_call import call_or_describe
from seamwise._text.secrets import Secret
from seamwise.redaction import redact, redact_named
from seamwise.redaction.settings import masking

MAX_EXCEPTIONS: Final = 100
"""Maximum number of exceptions in a copy; links to further ones are omitted."""

MAX_FRAMES: Final = 200
"""Maximum number of frames of one exception in a copy: the first and the last half."""

MAX_PARTS: Final = 200
"""Maximum number of parts of a container; a larger one is replaced by its type."""

MAX_CHARACTERS: Final = 100_000
"""Maximum length of a text in a variable; a longer one is replaced by its type."""

_HEAP_TYPE: Final = 1 << 9
_LINKS: Final = {
    '__cause__',
    '__class__',
    '__context__',
    '__dict__',
    '__suppress_context__',
    '__traceback__',
    '__weakref__',
}
_BASE: Final[Mapping[str, Any]] = vars(BaseException)
_BUILTIN_MESSAGE: Final[Any] = vars(BaseExceptionGroup)['message']

_OPAQUE_TYPES: Final[tuple[Any, ...]] = (
    object,
    type,
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    ModuleType,
    Secret,
)
_OPAQUE_REPRS: Final = tuple(type_.__repr__ for type_ in _OPAQUE_TYPES)
"""Implementations of `repr` that show no values."""

_VALUE_MODULES: Final = {'datetime', 'decimal', 'fractions', 'ipaddress', 'pathlib', 'uuid'}
"""Modules of the standard library whose values have a `repr` without side effects."""

_MODULE_NAMES: Final = {'__builtins__', '__loader__', '__spec__'}
_COLLECTIONS: Final = (list, tuple, set, frozenset)
_SCALARS: Final = {NoneType, bool, int, float, complex, bytes}

_GLOBALS: Final = ('__name__', '__file__', '__loader__', '__spec__')
"""Globals that handlers read to find the module and the source of a frame."""


def without_secrets(exception: BaseException) -> BaseException:
    """Return an exception, or a copy if it might show a secret.

    The copy has the same type, message, notes, causes and frames, but all texts and local variables
    are redacted. It is also made where a secret cannot be ruled out without calling user code, such
    as the `repr` of a local variable. The original is unchanged.
    """
    with masking(quoted_secrets(exception)):
        return call_or_describe(
            lambda: _original_or_copy(exception), lambda _: _stand_in(exception)
        )


def _original_or_copy(exception: BaseException) -> BaseException:
    originals, is_complete = _tree(exception)
    if is_complete and all(_is_clean(error, originals) for error in originals.values()):
        return exception
    return _copies(originals, exception)


def _tree(exception: BaseException) -> tuple[dict[int, BaseException], bool]:
    """Return the exceptions that handlers reach, by id, and whether these are all."""
    tree: dict[int, BaseException] = {}
    stack: list[object] = [exception]
    while stack:
        error = stack.pop()
        if not isinstance(error, BaseException) or id(error) in tree:
            continue
        if len(tree) == MAX_EXCEPTIONS:
            return tree, False
        tree[id(error)] = error
        for _, value in _attributes(error):
            stack += value[:MAX_PARTS] if type(value) is tuple else [value]
        # The causes are taken from the stack first, so that the limit omits them last.
        stack += [*reversed(members(error)), error.__context__, error.__cause__]
    return tree, True


def _attributes(error: BaseException) -> list[tuple[str, Any]]:
    """Return the attributes of an exception: `args`, built-in fields, slots and its `__dict__`."""
    attributes: list[tuple[str, Any]] = []
    for name, descriptor in _descriptors(type(error)).items():
        # An unset slot has no value.
        with suppress(AttributeError):
            attributes.append((name, descriptor.__get__(error)))
    values = [*attributes_of(error).items()]
    attributes += [(name, value) for name, value in values if name != DEFECT_KEY]
    return attributes


def _descriptors(class_: type) -> Mapping[str, Any]:
    # The constructor of a group sets its `args`, and its fields are read-only.
    is_group = issubclass(class_, BaseExceptionGroup)
    return {
        name: attribute
        for base in reversed(class_.__mro__)
        if not (is_group and base in {BaseException, BaseExceptionGroup})
        for name, attribute in vars(base).items()
        if isinstance(attribute, (MemberDescriptorType, GetSetDescriptorType))
        and name not in _LINKS
    }


def _entries(traceback: TracebackType | None) -> list[TracebackType]:
    entries: list[TracebackType] = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    return entries


def _variables(frame: FrameType) -> list[tuple[str, object]]:
    # The variables of a module include those that Python sets, without a value of the program.
    return [(name, value) for name, value in frame.f_locals.items() if name not in _MODULE_NAMES]


def _is_clean(error: BaseException, originals: Mapping[int, BaseException]) -> bool:
    entries = _entries(error.__traceback__)
    variables = [
        item
        for entry in entries[: MAX_FRAMES + 1]
        for item in [*_variables(entry.tb_frame), ('', entry.tb_frame.f_code.co_filename)]
    ]
    return (
        len(entries) <= MAX_FRAMES
        and all(redact(text) == text for text in (_text(error, str), _text(error, repr)))
        and all(
            _redacted(name, value, originals) is value
            for name, value in [*_attributes(error), *variables]
        )
    )


def _text(error: BaseException, convert: Callable[[object], str]) -> str:
    return call_or_describe(lambda: convert(error), lambda raised: type(raised).__name__)


def _redacted(name: str, value: Any, exceptions: Mapping[int, BaseException]) -> object:
    """Return the value of a variable if it contains no secret, else a redacted replacement.

    It calls no code of the user, because a `repr` can be slow or send a query.
    """
    if _class_of(value) is not tuple or len(value) > MAX_PARTS:
        return _redacted_item(name, value, exceptions)
    items = tuple(_redacted_item(name, item, exceptions) for item in value)
    return value if all(map(is_, items, value)) else items


def _redacted_item(name: str, value: Any, exceptions: Mapping[int, BaseException]) -> object:
    if isinstance(value, BaseException):
        return exceptions.get(id(value)) or _placeholder(value)
    type_ = _class_of(value)
    if _is_opaque(value) or isinstance(value, Enum):
        return value
    if type_ is bytes:
        text = value[: MAX_CHARACTERS + 1].decode('latin-1')
        return value if _redacted_item(name, text, exceptions) is text else _placeholder(value)
    if not _is_plain(value):
        return _placeholder(value)
    redacted = redact_named(name, value)
    return value if redacted == value else redacted


def _is_opaque(value: object) -> bool:
    """Return whether a handler shows no values of an object: Sentry shows the items of mappings."""
    return _class_of(value).__repr__ in _OPAQUE_REPRS and not call_or_describe(
        lambda: isinstance(value, _SHOWN_BY_ITEMS), lambda _: True
    )


_SHOWN_BY_ITEMS: Final = (Mapping, Sequence, AbstractSet)


def _class_of(value: object) -> type[object]:
    return type(value)


def _placeholder(value: object) -> str:
    return f'<{type(value).__name__}>'


def _is_plain(value: object) -> bool:
    """Return whether a value consists of a limited number of built-in values and Structs."""
    stack = [value]
    count = 0
    while stack:
        part: Any = stack.pop()
        count += 1
        if count > MAX_PARTS or not _is_plain_part(part):
            return False
        if type(part) is dict:
            stack += [*part, *part.values()]
        elif isinstance(part, _COLLECTIONS):
            stack += part
        elif isinstance(part, msgspec.Struct):
            stack += [getattr(part, field) for field in part.__struct_fields__]
    return True


def _is_plain_part(part: Any) -> bool:
    type_ = _class_of(part)
    if type_ is str:
        return len(part) <= MAX_CHARACTERS
    if type_ is dict or type_ in _COLLECTIONS:
        return len(part) <= MAX_PARTS
    if isinstance(part, msgspec.Struct):
        # Other methods than those of Struct and of TaggedError are code of the user.
        return not hasattr(part, '__dict__') and all(
            getattr(type_, name) in (getattr(msgspec.Struct, name), getattr(TaggedError, name))
            for name in ('__repr__', '__copy__', '__eq__')
        )
    return (
        type_ in _SCALARS
        or _is_opaque(part)
        or type_.__module__ in _VALUE_MODULES
        or isinstance(part, (BaseException, Enum))
    )


def _copies(originals: Mapping[int, BaseException], first: BaseException) -> BaseException:
    """Copy a tree of exceptions, again with fixed texts where a class computes others."""
    texts = {key: _message(error) for key, error in originals.items()}
    fixed: set[int] = set()
    while True:
        tree = _TreeCopy(originals, {key: texts[key] for key in fixed})
        different = {
            key
            for key, copy in tree.copies.items()
            if _text(copy, str) != texts[key] or redact(_text(copy, repr)) != _text(copy, repr)
        } - fixed
        if not different:
            return tree.copies[id(first)]
        fixed |= different


class _TreeCopy:
    """Copies of the exceptions of a tree, with links between the copies.

    Args:
        originals: The exceptions by id.
        texts: Texts of the exceptions whose class computes another one, by id.
    """

    def __init__(self, originals: Mapping[int, BaseException], texts: Mapping[int, str]) -> None:
        self.copies: dict[int, BaseException] = {}
        self._originals = originals
        self._texts = texts
        for error in originals.values():
            self._create(error)
        for key, error in originals.items():
            self._fill(error, self.copies[key])

    def _create(self, error: BaseException) -> BaseException:
        if id(error) in self.copies:
            return self.copies[id(error)]
        text = self._texts.get(id(error))
        class_ = type(error) if text is None else _with_text(type(error), text)
        arguments: tuple[object, ...] = ()
        if children := members(error):
            copies = [self._create(child) for child in children if id(child) in self._originals]
            message: str = _BUILTIN_MESSAGE.__get__(error)
            arguments = (redact(message), copies or [Exception('… (more exceptions)')])
        try:
            copy = _builtin_base(class_).__new__(class_, *arguments)
        except TypeError:
            # A class of an extension module can have a constructor of its own, and a group can
            # hide its members.
            copy = _stand_in(error)
        self.copies[id(error)] = copy
        return copy

    def _fill(self, error: BaseException, copy: BaseException) -> None:
        descriptors = _descriptors(type(error))
        for name, value in _attributes(error):
            redacted = _redacted(name, value, self.copies)
            if name in descriptors:
                # Some fields are read-only or accept one type only; `texts` makes up for them.
                with suppress(AttributeError, TypeError):
                    descriptors[name].__set__(copy, redacted)
            elif name == '__notes__' and type(redacted) is not list:
                attributes_of(copy)[name] = [redacted]
            else:
                attributes_of(copy)[name] = redacted
        links = {
            '__cause__': self.copies.get(id(error.__cause__)),
            '__context__': self.copies.get(id(error.__context__)),
            '__suppress_context__': error.__suppress_context__,
            '__traceback__': self._traceback(error.__traceback__),
        }
        for name, link in links.items():
            # A frozen class refuses assignments.
            _BASE[name].__set__(copy, link)

    def _traceback(self, traceback: TracebackType | None) -> TracebackType | None:
        entries = _entries(traceback)
        half = MAX_FRAMES // 2
        if len(entries) > MAX_FRAMES:
            entries = [*entries[:half], *entries[-half:]]
        copy: TracebackType | None = None
        for entry in reversed(entries):
            variables = {
                name: _redacted(name, value, self.copies)
                for name, value in _variables(entry.tb_frame)
            }
            # Without an instruction, `traceback` and others use the line number.
            copy = TracebackType(copy, _frame_copy(entry.tb_frame, variables), -1, entry.tb_lineno)
        return copy


def _message(error: BaseException) -> str:
    return redact(_text(error, str))


def _stand_in(error: BaseException) -> BaseException:
    """Return an exception without any data whose class has the same name and a fixed text."""
    base = Exception if isinstance(error, Exception) else BaseException
    return _named_like(type(error), base, _message(error))()


def _builtin_base(class_: type[BaseException]) -> type[BaseException]:
    return next(base for base in class_.__mro__ if not base.__flags__ & _HEAP_TYPE)


def _with_text(class_: type[BaseException], text: str) -> type[BaseException]:
    """Return a subclass with the same name whose instances have a fixed text."""
    # A hook for subclasses, such as a registry, must not see this one.
    base = next(
        base
        for base in class_.__mro__
        if type(base) is type and not hasattr(base.__init_subclass__, '__func__')
    )
    return _named_like(class_, base, text)


def _named_like(
    class_: type[BaseException], base: type[BaseException], text: str
) -> type[BaseException]:
    def fixed_str(_: BaseException) -> str:
        return text

    def fixed_repr(_: BaseException) -> str:
        return f'{class_.__name__}({text!r})'

    attributes = {
        '__module__': class_.__module__,
        '__qualname__': class_.__qualname__,
        '__slots__': (),
        '__str__': fixed_str,
        '__repr__': fixed_repr,
    }
    return type(class_.__name__, (base,), attributes)


_FAILING_CODE: Final = compile('0/0', '', 'exec')


def _frame_copy(frame: FrameType, variables: dict[str, object]) -> FrameType:
    """Return a frame with the position and the module of another, and other variables."""
    code = frame.f_code
    file = redact(code.co_filename)
    failing = _FAILING_CODE.replace(
        co_filename=file,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_firstlineno=code.co_firstlineno,
    )
    module: dict[str, object] = {
        name: frame.f_globals[name] for name in _GLOBALS if name in frame.f_globals
    }
    entries: list[TracebackType] = []
    try:
        exec(failing, module, variables)  # noqa: S102 -- Python creates a frame only by running code
    except ZeroDivisionError as error:
        entries = _entries(error.__traceback__)
    return entries[-1].tb_frame
