"""Tests of error classes: their definition and their values."""

import copy
import importlib
import pickle
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, NewType, TypeVar

import msgspec
import pytest
from typing_extensions import TypeAliasType, override

import seamwise
from seamwise import Category, Cause, Recovery, Result, Success, TaggedError
from seamwise._errors import errors
from seamwise._errors.errors import find_by_tag, iter_registered, retry_after
from seamwise.catalog.tools import FileNotFound

T = TypeVar('T')


class QueueFull(TaggedError, category=Category.CAPACITY, message='{queue!r} holds {size} already.'):
    """The queue accepts no more items."""

    queue: str
    size: int = 0


class Delayed(TaggedError, category=Category.RATE_LIMIT, message='Later.'):
    retry_after: float | None = None
    cause: Cause | None = None


class Varying(TaggedError, category=Category.EXECUTION, message='Code {code}.'):
    code: int

    @property
    @override
    def retryable(self) -> bool:
        return self.code == 1


class Renamed(
    TaggedError,
    tag='OldName',
    namespace='elsewhere',
    category=Category.QUOTA,
    retryable=True,
    recovery=Recovery.WAIT,
):
    pass


def test_fields_are_set_by_position_by_keyword_or_by_default() -> None:
    assert QueueFull('a', 3) == QueueFull(queue='a', size=3)
    assert QueueFull('a').size == 0
    with pytest.raises(TypeError):
        QueueFull()  # type: ignore[call-arg]  # the misuse is the test
    with pytest.raises(TypeError):
        QueueFull('a', sise=3)  # type: ignore[call-arg]  # the misuse is the test


def test_an_error_is_immutable() -> None:
    error = QueueFull('a')
    with pytest.raises(AttributeError):
        error.size = 7  # type: ignore[misc]  # the misuse is the test
    with pytest.raises(AttributeError):
        error.other = 7  # type: ignore[attr-defined]  # the misuse is the test


def test_an_error_cannot_be_raised() -> None:
    with pytest.raises(TypeError, match='exceptions must derive from BaseException'):
        raise QueueFull('a')  # type: ignore[misc]  # the misuse is the test


def test_a_pattern_matches_fields_by_position_and_by_keyword() -> None:
    def read(error: QueueFull | Varying) -> tuple[str, int]:
        match error:
            case QueueFull(size=0, queue=name):
                return name, 0
            case QueueFull(name, size):
                return name, size
            case busy:
                return '', busy.code

    assert [read(QueueFull('a', 0)), read(QueueFull('a', 3)), read(Varying(7))] == [
        ('a', 0),
        ('a', 3),
        ('', 7),
    ]


def test_retryability_and_recovery_default_to_those_of_the_category() -> None:
    error = QueueFull('a')
    assert (error.tag, error.category, error.retryable, error.recovery) == (
        'QueueFull',
        Category.CAPACITY,
        True,
        Recovery.WAIT,
    )
    renamed = Renamed()
    assert (renamed.tag, renamed.category, renamed.retryable, renamed.recovery) == (
        'OldName',
        Category.QUOTA,
        True,
        Recovery.WAIT,
    )
    assert Renamed.__traits__.namespace == 'elsewhere'
    assert QueueFull.__traits__.namespace == 'tests'


def test_a_class_can_override_a_property_for_its_instances() -> None:
    assert [Varying(code).retryable for code in (1, 2)] == [True, False]
    assert Varying.__traits__.retryable is False


@pytest.mark.parametrize('name', ['tag', 'category', 'retryable', 'recovery'])
def test_the_common_properties_are_read_only(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(QueueFull('a'), name, None)


@pytest.mark.parametrize(
    'delay',
    [-1, -0.001, float('nan'), float('inf'), float('-inf'), 1e10, 10**15, 10**5000, -(10**5000)],
    ids=['-1', '-.001', 'nan', 'inf', '-inf', '1e10', '10**15', '10**5000', '-10**5000'],
)
def test_a_delay_out_of_range_raises_value_error(delay: float) -> None:
    with pytest.raises(
        ValueError, match=r'^Delayed: retry_after must be 0 to 1000000000 seconds, not '
    ):
        Delayed(delay)


@pytest.mark.parametrize('delay', ['1', True, [1]])
def test_a_delay_of_another_type_raises_type_error(delay: Any) -> None:
    with pytest.raises(TypeError, match='retry_after must be a number of seconds or None'):
        Delayed(delay)


@pytest.mark.parametrize('delay', [None, 0, 0.0, 1.5, 1e9])
def test_a_valid_delay_is_stored(delay: float | None) -> None:
    assert Delayed(delay).retry_after == delay


def test_a_decoded_delay_is_checked() -> None:
    with pytest.raises(msgspec.ValidationError, match='retry_after'):
        msgspec.json.decode(b'{"_tag":"Delayed","retry_after":-1}', type=Delayed)


def test_the_post_init_of_a_class_runs_after_the_check_of_the_delay() -> None:
    class Checked(TaggedError, category=Category.TIMEOUT):
        retry_after: float

        def __post_init__(self) -> None:
            if self.retry_after == 7:
                raise ValueError('seven')

    assert Checked(1).retry_after == 1
    with pytest.raises(ValueError, match='seven'):
        Checked(7)
    with pytest.raises(ValueError, match='must be 0 to'):
        Checked(-7)


def test_a_class_without_a_delay_has_no_post_init() -> None:
    assert not hasattr(QueueFull, '__post_init__')


def test_an_error_class_can_be_generic() -> None:
    class Rejected(
        TaggedError, Generic[T], category=Category.VALIDATION, message='{value!r} was rejected.'
    ):
        value: T

    assert str(Rejected('x')) == "'x' was rejected."
    assert Rejected[int](1) == Rejected(1)


def define(
    body: str, keywords: str = 'category=Category.CONFLICT', base: str = 'TaggedError'
) -> None:
    """Define a class `Made` outside any function, so that its tag is registered."""
    exec(  # noqa: S102 -- the class is defined outside any function
        f'class Made({base}, {keywords}):\n    {body}',
        {**vars(seamwise), **globals(), '__name__': 'tests.made'},
    )


@pytest.mark.parametrize(
    ('keywords', 'complaint'),
    [
        ("message=''", 'Made: an error class needs a category'),
        ("category='conflict'", "Made: category must be a Category, not 'conflict'"),
        (
            'category=Category.CONFLICT, categry=1',
            (
                "Made: unknown class keyword 'categry'; an error class accepts tag, namespace, "
                'category, retryable, recovery, message, public, kw_only.'
            ),
        ),
        (
            'category=Category.CONFLICT, frozen=False',
            "Made: unknown class keyword 'frozen'",
        ),
        ('category=Category.CONFLICT, tag=7', 'Made: tag must be a str, not 7'),
        ("category=Category.CONFLICT, tag=''", 'Made: tag must not be empty'),
        ("category=Category.CONFLICT, namespace=''", 'Made: namespace must not be empty'),
        ('category=Category.CONFLICT, retryable=1', 'Made: retryable must be a bool, not 1'),
        (
            "category=Category.CONFLICT, recovery='wait'",
            "Made: recovery must be a Recovery, not 'wait'",
        ),
        (
            'category=Category.CONFLICT, message=None, tag=None, retryable="no"',
            "Made: retryable must be a bool, not 'no'",
        ),
    ],
)
def test_an_invalid_class_keyword_raises_type_error_with_its_name(
    keywords: str, complaint: str
) -> None:
    with pytest.raises(TypeError) as info:
        define('pass', keywords)
    assert complaint in str(info.value)


@pytest.mark.parametrize('name', ['tag', 'category', 'retryable', 'recovery'])
def test_a_field_with_a_reserved_name_raises_type_error(name: str) -> None:
    with pytest.raises(
        TypeError, match=f"Made: '{name}' is an attribute of every error; rename this field"
    ):
        define(f'{name}: str')
    for body in (
        f'{name} = 1',
        f'def {name}(self): return True',
        f'{name} = staticmethod(bool)',
        f'{name} = __import__("functools").cached_property(bool)',
    ):
        with pytest.raises(TypeError, match=f"Made: set '{name}' as a class keyword"):
            define(body)


class HasCategory(msgspec.Struct, frozen=True):
    category: str


class HasPlainTag:
    tag = 'own'


class HasMethod:
    def retryable(self) -> object: ...


class HasProperty:
    @property
    def retryable(self) -> bool:
        return True


@pytest.mark.parametrize('base', ['HasCategory', 'HasPlainTag', 'HasMethod'])
@pytest.mark.parametrize('order', ['TaggedError, {}', '{}, TaggedError'])
def test_a_reserved_name_of_a_base_raises_type_error(base: str, order: str) -> None:
    with pytest.raises(TypeError, match=r'Made: .*(attribute of every|class keyword)'):
        define('pass', base=order.format(base))


def test_a_base_can_have_a_property_with_a_reserved_name() -> None:
    class Mixed(HasProperty, TaggedError, category=Category.CONFLICT):
        pass

    assert Mixed().retryable


class HasList(msgspec.Struct, frozen=True):
    names: list[str] = []


class HasText(msgspec.Struct, frozen=True):
    names: 'tuple[Items, ...]' = ()


class HasDelay(msgspec.Struct, frozen=True):
    retry_after: float | None = None

    def __post_init__(self) -> None:
        if self.retry_after == 7:
            raise ValueError('seven')


class Changeable(msgspec.Struct, kw_only=True, eq=False, array_like=True):
    note: str = ''


Aliased = TypeAliasType('Aliased', list[int])
Items = NewType('Items', list[str])
Names = NewType('Names', tuple[str, ...])


@pytest.mark.parametrize(('base', 'kind'), [('HasList', 'list'), ('HasText', 'list')])
def test_an_unhashable_field_of_a_base_raises_type_error(base: str, kind: str) -> None:
    with pytest.raises(TypeError, match=f'Made: an error must be hashable, .* contains a {kind}'):
        define('pass', base=f'TaggedError, {base}')


def test_the_delay_of_a_base_is_checked_before_its_post_init() -> None:
    class Late(TaggedError, HasDelay, category=Category.TIMEOUT):
        pass

    assert Late(1.0).retry_after == 1
    with pytest.raises(ValueError, match='Late: retry_after must be 0 to'):
        Late(-1.0)
    with pytest.raises(ValueError, match='seven'):
        Late(7.0)


def test_an_error_with_a_mutable_base_is_immutable_hashable_and_a_json_object() -> None:
    class Mixed(TaggedError, Changeable, category=Category.CONFLICT, message='{note} {size}'):  # type: ignore[misc]  # msgspec permits it
        size: int

    error = Mixed(3, note='a')
    assert (error, hash(error)) == (Mixed(3, note='a'), hash(Mixed(3, note='a')))
    assert str(error) == 'a 3'
    with pytest.raises(AttributeError):
        error.note = 'b'  # type: ignore[misc]  # the misuse is the test
    wire = seamwise.codec(Mixed)
    assert wire.encode(error) == b'{"_tag":"Mixed","size":3,"note":"a"}'
    assert wire.decode(wire.encode(error)) == error


def test_the_fields_of_a_class_can_be_keyword_only() -> None:
    class Moved(TaggedError, category=Category.CONFLICT, message='{old} to {new}', kw_only=True):
        old: str = ''
        new: str

    assert str(Moved(new='b', old='a')) == 'a to b'
    assert seamwise.codec(Moved).decode(b'{"_tag":"Moved","new":"b"}') == Moved(new='b')
    with pytest.raises(TypeError):
        Moved('a', 'b')  # type: ignore[call-arg]  # the misuse is the test
    with pytest.raises(TypeError, match='Made: kw_only must be a bool, not 1'):
        define('pass', 'category=Category.CONFLICT, kw_only=1')


def test_a_class_can_be_created_by_a_call() -> None:
    meta: Any = type(TaggedError)
    made = meta('MadeByCall', (TaggedError,), {}, category=Category.CONFLICT)
    assert (made.__module__, made.__traits__.namespace) == (__name__, 'tests')
    assert str(made()) == 'Made by call.'
    body = {'__annotations__': {'size': int}}
    sized: Any = types.new_class(
        'SizedByCall',
        (TaggedError,),
        {'category': Category.CONFLICT},
        lambda names: names.update(body),
    )
    assert sized(3) == sized(size=3)


def test_the_base_class_cannot_be_instantiated() -> None:
    with pytest.raises(TypeError, match=r'^TaggedError is the base class of errors; create an'):
        TaggedError()
    with pytest.raises(msgspec.ValidationError, match='TaggedError is the base class'):
        msgspec.json.decode(b'{}', type=TaggedError)


@pytest.mark.parametrize(
    'annotation',
    [
        'TaggedError',
        'TaggedError | None',
        'tuple[TaggedError, ...]',
        '"TaggedError | None"',
        '"tuple[TaggedError, ...]"',
        '"seamwise._errors.errors.TaggedError | Unknown"',
        '__import__("typing").Annotated[TaggedError, "x"]',
    ],
)
def test_a_field_of_the_base_class_raises_type_error(annotation: str) -> None:
    with pytest.raises(
        TypeError,
        match=r"Made: the field 'x' has the type TaggedError, .*; use `Cause \| None` for any",
    ):
        define(f'x: {annotation}')


@pytest.mark.parametrize(
    'annotation',
    [
        'Secret[TaggedError]',
        'type[TaggedError]',
        '"type[TaggedError]"',
        'Cause',
        'QueueFull | None',
    ],
)
def test_a_field_of_another_type_with_errors_is_accepted(annotation: str) -> None:
    define(f'x: {annotation}')


@pytest.mark.parametrize(
    ('annotation', 'kind'),
    [
        ('list[int]', 'list'),
        ('dict[str, int] | None', 'dict'),
        ('set', 'set'),
        ('tuple[list[int], ...]', 'list'),
        ('"list[int]"', 'list'),
        ('"tuple[\'dict[str, int]\', ...]"', 'dict'),
        ('"typing.List[int] | None"', 'List'),
        ('bytearray', 'bytearray'),
        ('__import__("typing").Annotated[set[int], "x"]', 'set'),
        ('__import__("collections.abc").abc.Sequence[str]', 'Sequence'),
        ('__import__("collections.abc").abc.Mapping[str, int] | None', 'Mapping'),
        ('__import__("collections.abc").abc.Set[str]', 'Set'),
        ('__import__("collections.abc").abc.Iterable[str]', 'Iterable'),
        ('__import__("typing").Sequence[str]', 'Sequence'),
        ('__import__("collections").Counter[str]', 'Counter'),
        ('__import__("collections").deque[str]', 'deque'),
        ('"Sequence[str]"', 'Sequence'),
        ('"Unknown[\'list[int]\'] | None"', 'list'),
        ('"abc.Mapping[str, int]"', 'Mapping'),
        ('Items', 'list'),
        ('tuple[Items, ...]', 'list'),
        ('HasList', 'list'),
        ('Changed', 'Changed'),
        ('Plain | None', 'Plain'),
        ('Aliased', 'list'),
        ('Boxed', 'dict'),
    ],
)
def test_a_field_of_an_unhashable_type_raises_type_error(annotation: str, kind: str) -> None:
    with pytest.raises(
        TypeError,
        match=f"Made: an error must be hashable, but the field 'x' contains a {kind}; use a ",
    ):
        define(f'x: {annotation}')


@pytest.mark.parametrize(
    'annotation',
    [
        'tuple[int, ...]',
        'frozenset[str]',
        'Secret[list[int]]',
        '"Secret[dict[str, int]]"',
        '"tuple[str, ...] | None"',
        '"an unparsable annotation"',
        '__import__("typing").Literal["list", "dict"]',
        '"Literal[\'list\']"',
        'type[list]',
        '__import__("collections.abc").abc.Callable[[list], None]',
        'Names',
        'Node',
        'Secret[Items]',
        'object',
        '__import__("typing").Any',
        '"ClassVar[list[int]]"',
        'ClassVar[list[int]]',
        'T',
    ],
)
def test_a_field_of_a_hashable_type_is_accepted(annotation: str) -> None:
    define(f'x: {annotation}')


class Changed(msgspec.Struct):
    number: int


@dataclass
class Plain:
    number: int


class Node(msgspec.Struct, frozen=True):
    children: 'tuple[Node, ...]' = ()


Boxed = TypeVar('Boxed', bound=dict[str, int])


def test_the_replacement_of_a_mapping_is_a_tuple_of_pairs() -> None:
    with pytest.raises(TypeError, match='use a tuple of pairs or a frozen Struct'):
        define('x: dict[str, int]')
    with pytest.raises(TypeError, match='use a tuple or a frozenset'):
        define('x: list[str]')


def test_an_annotation_in_a_string_is_resolved_in_its_module() -> None:
    names = {'__name__': __name__, 'Items': Items, 'TaggedError': TaggedError, 'Category': Category}
    text = 'class AsText(TaggedError, category=Category.CONFLICT):\n    x: "Items"\n'
    with pytest.raises(TypeError, match="the field 'x' contains a list"):
        exec(text, names)  # noqa: S102 -- the class is defined outside any function


def test_a_class_variable_is_no_field() -> None:
    class Limited(TaggedError, category=Category.CONFLICT):
        sizes: ClassVar[list[int]] = [1]
        names: 'ClassVar[list[str]]' = ['a']  # noqa: RUF012 -- a string is the test

    assert (Limited.sizes, Limited.names) == ([1], ['a'])
    assert Limited.__struct_fields__ == ()


def test_subclassing_an_error_class_raises_type_error() -> None:
    with pytest.raises(
        TypeError,
        match=r'Made: the error class QueueFull cannot be subclassed.*'
        r'`MadeError = QueueFull \| Made`',
    ):
        define('pass', base='QueueFull')


@pytest.mark.parametrize('bases', ['TaggedError, Exception', 'KeyboardInterrupt, TaggedError'])
def test_an_exception_as_base_raises_type_error(bases: str) -> None:
    with pytest.raises(
        TypeError, match=r'Made: an error is a value, not an exception; remove the base [EK]'
    ):
        define('pass', base=bases)


@pytest.mark.parametrize(
    ('body', 'reason'),
    [
        ('x: int = 1; y: int', "Required field 'y' cannot follow"),
        ('def __init__(self): pass', 'Struct types cannot define __init__'),
        ("x: int = msgspec.field(name='_tag')", 'conflicts with an existing field'),
    ],
)
def test_a_class_that_msgspec_refuses_raises_type_error_with_its_name(
    body: str, reason: str
) -> None:
    with pytest.raises(TypeError, match=f'^Made: .*{reason}'):
        define(body)


def test_a_duplicate_tag_raises_type_error_with_both_names() -> None:
    with pytest.raises(
        TypeError,
        match=r"Made: tests\.core\.test_errors\.QueueFull already has the tag 'QueueFull' "
        r"in namespace 'tests'",
    ):
        define('pass', "category=Category.CONFLICT, tag='QueueFull'")
    define('pass', "category=Category.CONFLICT, tag='QueueFull', namespace='others'")


def test_a_reloaded_class_replaces_the_first_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'reloaded.py').write_text(
        'from seamwise import Category, TaggedError\n\n\n'
        'class Again(TaggedError, category=Category.CONFLICT):\n    pass\n'
    )
    monkeypatch.setattr(sys, 'path', [str(tmp_path), *sys.path])
    first = importlib.import_module('reloaded').Again
    second = importlib.reload(sys.modules['reloaded']).Again
    assert first is not second
    assert find_by_tag('Again') is second


def test_classes_local_to_a_function_may_share_tags() -> None:
    def local() -> type[TaggedError]:
        class Varying(TaggedError, category=Category.CONFLICT):
            pass

        return Varying

    assert local() is not local()
    assert find_by_tag('Varying') is Varying


def test_a_tag_in_two_namespaces_is_not_found() -> None:
    define('pass', "category=Category.CONFLICT, tag='Shared', namespace='one'")
    define('pass', "category=Category.CONFLICT, tag='Shared', namespace='two'")
    assert find_by_tag('Shared') is None
    assert find_by_tag(None) is None


@pytest.mark.parametrize(
    'error', [QueueFull('a', 3), Delayed(1.5, cause=QueueFull('b')), Varying(1), Renamed()]
)
def test_an_error_equals_its_copies(error: TaggedError) -> None:
    for twin in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301 -- our own bytes
        assert twin == error
        assert hash(twin) == hash(error)
        assert type(twin) is type(error)
    assert error != QueueFull('another')


def test_errors_of_different_classes_are_never_equal() -> None:
    class One(TaggedError, category=Category.CONFLICT):
        x: int

    class Two(TaggedError, category=Category.CONFLICT):
        x: int

    error: TaggedError = One(1)
    assert error != Two(1)


def test_msgspec_distinguishes_the_members_of_a_union() -> None:
    wire = msgspec.json.encode(QueueFull('a', 3))
    assert wire == b'{"_tag":"QueueFull","queue":"a","size":3}'
    assert msgspec.json.decode(wire, type=QueueFull | Varying) == QueueFull('a', 3)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"_tag":"Nobody"}', type=QueueFull | Varying)


@pytest.mark.parametrize(
    ('error', 'seconds'), [(Delayed(2), 2.0), (Delayed(), None), (Varying(3), None)]
)
def test_retry_after_returns_the_delay_of_any_error(
    error: TaggedError, seconds: float | None
) -> None:
    assert retry_after(error) == seconds


def test_iter_registered_yields_the_classes_of_modules_but_not_those_of_functions() -> None:
    class LocalFailed(TaggedError, category=Category.NOT_FOUND):
        """Local to a function."""

    classes = set(iter_registered())
    assert FileNotFound in classes
    assert LocalFailed not in classes


def test_for_each_class_calls_a_function_with_existing_and_later_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(errors, '_observers', [])
    classes: list[type[TaggedError]] = []
    errors.for_each_class(classes.append)
    assert FileNotFound in classes

    class LaterFailed(TaggedError, category=Category.NOT_FOUND):
        """Defined after the call."""

    assert classes[-1] is LaterFailed


MUTABLE: list[tuple[Any, str]] = [
    ([], 'list'),
    ({}, 'dict'),
    (set(), 'set'),
    (([1],), 'list'),
    (msgspec.field(default_factory=list), 'list'),
    (msgspec.field(default=bytearray()), 'bytearray'),
]


@pytest.mark.parametrize(('default', 'type_'), MUTABLE)
def test_a_default_that_does_not_hash_raises_type_error(default: Any, type_: str) -> None:
    message = (
        r"^_Odd: an error must be hashable, but the default of the field 'parts' is not "
        rf"\(.*'{type_}'.*\); use a tuple or a frozenset\.$"
    )
    with pytest.raises(TypeError, match=message):

        class _Odd(TaggedError, category=Category.CONFLICT):  # pyright: ignore[reportUnusedClass]
            parts: tuple[int, ...] = default


def test_a_default_factory_is_accepted() -> None:
    class Fine(TaggedError, category=Category.CONFLICT):
        parts: tuple[int, ...] = msgspec.field(default_factory=tuple)
        number: int = msgspec.field(default=7)
        name: str = msgspec.field(default='a', name='other')

    assert hash(Fine()) == hash(Fine((), 7, 'a'))


def test_a_field_of_a_result_raises_type_error() -> None:
    with pytest.raises(TypeError, match=r"^_One: the field 'value' contains a Result; declare a"):

        class _One(TaggedError, category=Category.CONFLICT):  # pyright: ignore[reportUnusedClass]
            value: Success[int]

    with pytest.raises(TypeError, match=r"^_Many: the field 'values' contains a Result; declare a"):

        class _Many(TaggedError, category=Category.CONFLICT):  # pyright: ignore[reportUnusedClass]
            values: tuple[Result[int, str] | None, ...]
