"""Tests of exceptions without secrets: clean originals, and copies of all others."""

import abc
import asyncio
import copy
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Self

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import OperationalError
from typing_extensions import override

from seamwise import Category, Cause, Raised, Secret, TaggedError, redact
from seamwise._defects.redacted_exceptions import MAX_EXCEPTIONS, MAX_FRAMES, without_secrets
from tests.core.raised import raised

PLANTED = 'FAKE-hunter2'
SECRET_TEXT = f'password={PLANTED}'


class UploadFailed(TaggedError, category=Category.EXECUTION, message='{detail}'):
    detail: str
    cause: Cause | None = None


def printed(error: BaseException) -> str:
    """Return all that log handlers can read of an exception."""
    parts = [str(error), repr(error), repr(error.args)]
    parts += traceback.TracebackException.from_exception(error, capture_locals=True).format()
    for link in (error.__cause__, error.__context__, *getattr(error, 'exceptions', ())):
        if isinstance(link, BaseException):
            parts.append(printed(link))
    return '\n'.join(parts)


def entries(error: BaseException) -> list[TracebackType]:
    found: list[TracebackType] = []
    entry = error.__traceback__
    while entry is not None:
        found.append(entry)
        entry = entry.tb_next
    return found


def positions(error: BaseException) -> list[tuple[str, str, int]]:
    return [
        (code.co_filename, code.co_qualname, entry.tb_lineno)
        for entry in entries(error)
        for code in [entry.tb_frame.f_code]
    ]


class OwnInit(Exception):
    def __init__(self, host: str, *, port: int) -> None:
        super().__init__(f'{host}:{port}')
        self.host = host


class OwnNew(Exception):
    def __new__(cls, first: str, second: str) -> Self:
        return super().__new__(cls, first, second)

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first, second)


class Slotted(Exception):
    __slots__ = ('text', 'unset')

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    @override
    def __str__(self) -> str:
        return f'slotted {self.text}'


class Response:
    @override
    def __repr__(self) -> str:
        return SECRET_TEXT


class Computed(Exception):
    """Computes its text from an object that is replaced in a copy."""

    def __init__(self) -> None:
        super().__init__()
        self.response = Response()

    @override
    def __str__(self) -> str:
        return f'answer {self.response!r}'


class Registered(Exception):
    classes: ClassVar[list[type]] = []

    @override
    def __init_subclass__(cls) -> None:
        Registered.classes.append(cls)


class RegisteredChild(Registered):
    @override
    def __str__(self) -> str:
        return SECRET_TEXT if self.args else 'lost'

    @override
    def __repr__(self) -> str:
        return SECRET_TEXT


class AbstractError(Exception, metaclass=abc.ABCMeta):
    @override
    def __str__(self) -> str:
        return SECRET_TEXT


@dataclass(frozen=True)
class FrozenError(Exception):
    text: str


class OwnGroup(ExceptionGroup[Exception]):
    @override
    def derive(self, excs: Any) -> Any: ...


SECRETIVE: list[Callable[[], BaseException]] = [
    lambda: ValueError(SECRET_TEXT),
    lambda: KeyError(SECRET_TEXT),
    lambda: KeyError('token', SECRET_TEXT),
    lambda: OSError(13, SECRET_TEXT, 'a.txt'),
    lambda: FileNotFoundError(2, 'No such file', f'/srv/{SECRET_TEXT}'),
    lambda: UnicodeDecodeError('utf-8', f'{SECRET_TEXT} \xff'.encode('latin-1'), 23, 24, 'bad'),
    lambda: UnicodeEncodeError('ascii', f'{SECRET_TEXT} é', 23, 24, 'bad'),
    lambda: SyntaxError('invalid', ('a.py', 1, 1, f"connect('{SECRET_TEXT}')")),
    lambda: ImportError('no', name=SECRET_TEXT, path=None),
    lambda: AttributeError(SECRET_TEXT, name='x', obj=SECRET_TEXT),
    lambda: StopIteration(SECRET_TEXT),
    lambda: SystemExit(SECRET_TEXT),
    lambda: KeyboardInterrupt(SECRET_TEXT),
    lambda: asyncio.CancelledError(SECRET_TEXT),
    lambda: ExceptionGroup(SECRET_TEXT, [ValueError('a')]),
    lambda: ExceptionGroup('a', [ValueError('a'), ExceptionGroup('b', [KeyError(SECRET_TEXT)])]),
    lambda: BaseExceptionGroup('a', [KeyboardInterrupt(SECRET_TEXT)]),
    lambda: OwnGroup('a', [ValueError(SECRET_TEXT)]),
    lambda: OwnInit(SECRET_TEXT, port=5),
    lambda: OwnNew('a', SECRET_TEXT),
    lambda: Slotted(SECRET_TEXT),
    Computed,
    lambda: RegisteredChild('a'),
    AbstractError,
    lambda: FrozenError(SECRET_TEXT),
    lambda: Raised(UploadFailed(SECRET_TEXT, OSError(SECRET_TEXT))),
    lambda: ValueError({'password': PLANTED}),
    lambda: ValueError(f'password={PLANTED}'.encode()),
    lambda: ValueError([OSError(SECRET_TEXT)]),
    lambda: ValueError(OSError(SECRET_TEXT)),
    lambda: OperationalError(
        'INSERT INTO users', {'name': 'ann', 'password': PLANTED}, OSError(SECRET_TEXT)
    ),
]


@pytest.mark.parametrize('make', SECRETIVE)
def test_a_copy_has_the_type_and_the_redacted_texts_of_the_original(
    make: Callable[[], BaseException],
) -> None:
    error = raised(make())
    before = printed(error)
    clean = without_secrets(error)
    assert clean is not error
    assert PLANTED not in printed(clean)
    assert str(clean) == redact(str(error))
    for name in ('__name__', '__qualname__', '__module__'):
        assert getattr(type(clean), name) == getattr(type(error), name)
    assert positions(clean) == positions(error)
    assert printed(error) == before


@pytest.mark.parametrize('make', [make for make in SECRETIVE if make is not AbstractError])
def test_a_copy_is_an_instance_of_the_class_unless_a_hook_would_see_a_subclass(
    make: Callable[[], BaseException],
) -> None:
    error = make()
    kind = Exception if isinstance(error, Registered) else type(error)
    assert isinstance(without_secrets(error), kind)
    assert Registered.classes == [RegisteredChild]


@pytest.mark.parametrize(
    'make',
    [
        lambda: ValueError('bad', 5, None, ('a', {'b': [1.5]}), b'abc'),
        lambda: OSError(2, 'No such file', 'a.txt'),
        lambda: ExceptionGroup('several', [ValueError('a'), KeyError('b')]),
        lambda: ValueError(OSError('disk')),
        lambda: ValueError(Category.TIMEOUT, int, object(), Secret('x')),
        lambda: Slotted('a'),
        lambda: Raised(UploadFailed('a')),
    ],
)
def test_an_exception_without_secrets_is_returned_itself(
    make: Callable[[], BaseException],
) -> None:
    error = make()
    error.add_note('a note')
    error.__cause__ = KeyError('cause')
    assert without_secrets(error) is error


def test_a_raised_exception_with_plain_variables_is_returned_itself() -> None:
    def divide(number: int, label: str, parts: list[tuple[str, int]], sink: object) -> float:
        return number / (len(label) - len(label))

    with pytest.raises(ZeroDivisionError) as info:
        divide(1, 'a', [('b', 2)], object())
    error = info.value
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next
    assert without_secrets(error) is error


class Settings:
    @override
    def __repr__(self) -> str:
        pytest.fail('a repr can be slow, or send a query')


def failing(  # noqa: PLR0917 -- the arguments are the variables of the frame
    password: str,
    url: str,
    number: int,
    settings: Settings,
    large: list[int],
    text: str,
    error: BaseException,
) -> float:
    return number / 0


def error_with_variables(**changes: Any) -> ZeroDivisionError:
    arguments: dict[str, Any] = {
        'password': '',
        'url': '',
        'number': 3,
        'settings': None,
        'large': [],
        'text': '',
        'error': None,
    }
    with pytest.raises(ZeroDivisionError) as info:
        failing(**(arguments | changes))
    assert info.value.__traceback__ is not None
    info.value.__traceback__ = info.value.__traceback__.tb_next
    return info.value


@pytest.mark.parametrize(
    ('name', 'value', 'replacement'),
    [
        ('password', PLANTED, '***'),
        ('url', f'https://ann:{PLANTED}@example.org', 'https://***@example.org'),
        ('settings', Settings(), '<Settings>'),
        ('large', list(range(1000)), '<list>'),
        ('large', [[1] * 150, [2] * 150], '<list>'),
        ('text', 'x' * 200_000, '<str>'),
        ('text', SECRET_TEXT.encode(), '<bytes>'),
        ('error', ValueError('a'), '<ValueError>'),
    ],
)
def test_the_variables_of_the_frames_of_a_copy_are_redacted(
    name: str, value: object, replacement: object
) -> None:
    assert without_secrets(plain := error_with_variables()) is plain
    error = error_with_variables(**{name: value})
    clean = without_secrets(error)
    [entry] = entries(clean)
    assert entry.tb_frame.f_locals[name] == replacement
    assert entry.tb_frame.f_locals['number'] == 3
    assert entry.tb_frame.f_globals['__name__'] == __name__
    assert entries(error)[0].tb_frame.f_locals[name] is value
    assert type(clean) is ZeroDivisionError


def test_a_secret_anywhere_in_the_tree_makes_copies_of_all() -> None:
    leaf = OSError(SECRET_TEXT)
    leaf.__context__ = KeyError('context')
    middle = RuntimeError('middle')
    middle.__context__ = leaf
    middle.__suppress_context__ = True
    error = ExceptionGroup('several', [ValueError('a'), middle])
    error.__cause__ = middle
    middle.__cause__ = error
    clean: Any = without_secrets(error)
    assert type(clean) is ExceptionGroup
    copied = clean.exceptions[1]
    assert (copied is clean.__cause__, copied.__cause__ is clean) == (True, True)
    assert copied is not middle
    assert copied.__suppress_context__
    assert str(copied.__context__) == 'password=***'
    assert isinstance(copied.__context__, OSError)
    assert isinstance(copied.__context__.__context__, KeyError)
    assert middle.__context__ is leaf


def test_the_notes_of_a_copy_are_redacted() -> None:
    error = ValueError('bad')
    error.add_note(SECRET_TEXT)
    clean = without_secrets(error)
    assert clean.__notes__ == ['password=***']
    error.__notes__ = [SECRET_TEXT] * 1000
    assert without_secrets(error).__notes__ == ['<list>']


def test_the_attributes_of_a_copy_are_redacted() -> None:
    """Sentry shows `message` and `detail` of any exception."""
    error: Any = OwnInit('a', port=5)
    error.message = SECRET_TEXT
    error.detail = Settings()
    clean: Any = without_secrets(error)
    assert (clean.message, clean.detail, clean.host) == ('password=***', '<Settings>', 'a')


def test_an_exception_in_an_attribute_is_copied() -> None:
    error: Any = ValueError('bad')
    error.orig = OSError(SECRET_TEXT)
    clean: Any = without_secrets(error)
    assert isinstance(clean.orig, OSError)
    assert str(clean.orig) == 'password=***'


def test_a_long_chain_is_cut() -> None:
    first = error = ValueError('0')
    for number in range(1, 100_000):
        error.__cause__ = ValueError(str(number))
        error = error.__cause__
    clean: BaseException | None = without_secrets(first)
    count = 0
    while clean is not None:
        count += 1
        clean = clean.__cause__
    assert count == MAX_EXCEPTIONS


def test_a_large_group_is_cut() -> None:
    group = ExceptionGroup('many', [ValueError(str(number)) for number in range(100_000)])
    clean: Any = without_secrets(group)
    assert len(clean.exceptions) == MAX_EXCEPTIONS - 1
    assert str(clean) == 'many (100000 sub-exceptions)'


def test_deeply_nested_groups_are_cut() -> None:
    group: Any = ValueError('a')
    for _ in range(5000):
        group = ExceptionGroup('deep', [group])
    clean: Any = without_secrets(group)
    for _ in range(MAX_EXCEPTIONS):
        [clean] = clean.exceptions
    assert repr(clean) == "Exception('… (more exceptions)')"


def test_the_middle_frames_of_a_deep_recursion_are_cut() -> None:
    def down(depth: int) -> None:
        if not depth:
            raise ValueError('bottom')
        down(depth - 1)

    with pytest.raises(ValueError, match='bottom') as info:
        down(500)
    depths = [
        entry.tb_frame.f_locals.get('depth') for entry in entries(without_secrets(info.value))
    ]
    assert len(depths) == MAX_FRAMES
    assert (depths[1], depths[-1]) == (500, 0)


class NotAnOwner(Exception):
    @override
    def __str__(self) -> str:
        raise ZeroDivisionError(SECRET_TEXT)


def test_an_exception_whose_text_raises_is_copied() -> None:
    error = NotAnOwner(SECRET_TEXT)
    clean = without_secrets(error)
    assert clean is not error
    assert type(clean) is NotAnOwner
    assert clean.args == ('password=***',)


class Unreadable(msgspec.Struct):
    field: int

    @override
    def __getattribute__(self, name: str) -> Any:
        if name == 'field':
            raise LookupError(name)
        return super().__getattribute__(name)


class Secretive(Exception):
    @override
    def __str__(self) -> str:
        return SECRET_TEXT


class FailedExit(BaseException):
    pass


@pytest.mark.parametrize(
    ('kind', 'base', 'text'),
    [(Secretive, Exception, 'password=***'), (FailedExit, BaseException, 'Unreadable(field=1)')],
)
def test_an_exception_that_cannot_be_copied_becomes_one_with_its_name_and_text(
    kind: type[BaseException], base: type[BaseException], text: str
) -> None:
    clean = without_secrets(kind(Unreadable(1)))
    assert type(clean).__name__ == kind.__name__
    assert type(clean).__bases__ == (base,)
    assert (str(clean), clean.args) == (text, ())


class HiddenGroup(ExceptionGroup[Exception]):
    @property
    @override
    def exceptions(self) -> Any:
        return ()


def test_an_exception_whose_class_cannot_be_instantiated_keeps_its_name_and_text() -> None:
    error = ValueError('bad')
    error.__cause__ = HiddenGroup(SECRET_TEXT, [KeyError('a')])
    cause = without_secrets(error).__cause__
    assert type(cause).__name__ == 'HiddenGroup'
    assert type(cause).__bases__ == (Exception,)
    assert str(cause) == redact(str(error.__cause__))


def test_a_frame_named_like_a_credential_is_redacted() -> None:
    file = f'https://ann:{PLANTED}@example.org/a.py'
    names: dict[str, Callable[[], None]] = {}
    exec(compile('def run():\n    1 / 0', file, 'exec'), names)  # noqa: S102 -- the only way to a frame of this file
    with pytest.raises(ZeroDivisionError) as info:
        names['run']()
    assert PLANTED not in printed(without_secrets(info.value))


@given(st.lists(st.one_of(st.text(), st.integers(), st.just(SECRET_TEXT), st.binary()), max_size=4))
def test_a_copy_of_a_clean_exception_has_its_text_and_is_not_copied_again(args: list[Any]) -> None:
    error = ValueError(*args)
    clean = without_secrets(error)
    assert str(clean) == redact(str(error))
    assert PLANTED not in printed(clean)
    assert without_secrets(clean) is clean


def test_a_copy_can_be_copied() -> None:
    clean = without_secrets(ValueError(SECRET_TEXT))
    assert str(copy.copy(clean)) == 'password=***'
