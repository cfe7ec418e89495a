"""Tests of the JSON codec: round trips, causes, secrets and schemas."""

import json
import math
import os
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, Union

import attrs
import msgspec
import pytest
from typing_extensions import TypeAliasType

from seamwise import (
    Category,
    Cause,
    Secret,
    TaggedError,
    codec,
    error_chain,
    find_cause,
    json_schema,
)
from seamwise._errors.codec import MAX_CAUSES, error_classes
from seamwise._errors.reported import ReportedCause

if TYPE_CHECKING:
    from decimal import Decimal

T = TypeVar('T')


class Leaf(TaggedError, category=Category.TIMEOUT):
    number: int


class Node(TaggedError, category=Category.EXECUTION):
    cause: Cause | None = None


class Guarded(TaggedError, category=Category.AUTHENTICATION):
    user: str
    password: Secret[str]
    token: Secret[str] | None = None


class Foreign(TaggedError, category=Category.EXECUTION):
    text: str


CODEC = codec(Leaf | Node | Guarded)


def test_a_codec_decodes_the_errors_that_it_encodes() -> None:
    assert CODEC.encode(Leaf(3)) == b'{"_tag":"Leaf","number":3}'
    for error in (Leaf(3), Node(), Node(Leaf(1)), Node(Node(Leaf(2)))):
        assert CODEC.decode(CODEC.encode(error)) == error
    assert CODEC.decode(CODEC.encode(Leaf(3)).decode()) == Leaf(3)


def test_a_single_class_is_accepted_as_a_union() -> None:
    assert codec(Leaf).decode(b'{"_tag":"Leaf","number":3}') == Leaf(3)


def test_a_cause_outside_the_union_is_decoded_by_its_tag() -> None:
    assert CODEC.decode(CODEC.encode(Node(Foreign('x')))) == Node(Foreign('x'))


def test_an_exception_is_encoded_as_type_and_redacted_message() -> None:
    body = CODEC.encode(Node(OSError(28, 'no room for password=hunter2-FAKE')))
    assert json.loads(body) == {
        '_tag': 'Node',
        'cause': {'type': 'OSError', 'message': json.loads(body)['cause']['message']},
    }
    assert b'no room' in body
    assert b'FAKE' not in body
    decoded = CODEC.decode(body)
    assert isinstance(decoded, Node)
    assert isinstance(decoded.cause, ReportedCause)
    assert decoded.cause.type == 'OSError'
    assert str(decoded.cause).startswith('OSError: [Errno 28] no room')
    assert CODEC.encode(decoded) == body


def test_an_unknown_cause_is_decoded_as_a_reported_cause() -> None:
    decoded = CODEC.decode(b'{"_tag":"Node","cause":{"_tag":"FromElsewhere","n":1}}')
    assert isinstance(decoded, Node)
    assert str(decoded.cause) == 'FromElsewhere: '


def test_a_secret_is_encoded_as_its_mask() -> None:
    body = CODEC.encode(Guarded('ann', Secret('hunter2'), Secret('abc')))
    assert body == b'{"_tag":"Guarded","user":"ann","password":"***","token":"***"}'
    assert CODEC.decode(body) == Guarded('ann', Secret('***'), Secret('***'))


@pytest.mark.parametrize(
    'body',
    [
        b'',
        b'{',
        b'[]',
        b'{"_tag":"Nobody"}',
        b'{"_tag":"Leaf"}',
        b'{"_tag":"Leaf","number":"3"}',
        b'{"_tag":"Node","cause":7}',
        b'{"_tag":"Node","cause":{"_tag":"Leaf","number":"x"}}',
        b'\xff',
    ],
)
def test_a_body_that_is_no_error_of_the_union_raises_a_decode_error(body: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        CODEC.decode(body)


@pytest.mark.parametrize('value', [int, TaggedError, Leaf | int, 'Leaf', None, list[Leaf]])
def test_a_type_that_is_no_union_of_errors_raises_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match='Expected a class of tagged errors or a union of them'):
        codec(value)
    with pytest.raises(TypeError, match='Expected a class of tagged errors or a union of them'):
        json_schema(value)


class Point(msgspec.Struct, frozen=True):
    place: complex


@pytest.mark.parametrize(
    ('type_', 'reason'),
    [
        (complex, 'complex is not a type that msgspec supports'),
        (tuple[complex, ...], 'complex is not a type that msgspec supports'),
        (complex | None, 'complex is not a type that msgspec supports'),
        (Point, 'complex is not a type that msgspec supports'),
        (tuple[Point | None, int], 'complex is not a type that msgspec supports'),
        (Cause | Secret[str] | None, 'may not contain more than one custom type'),
        (int | Point | Leaf, 'all Struct types must be tagged'),
    ],
)
def test_a_field_without_a_json_form_raises_type_error_when_a_codec_is_created(
    type_: Any, reason: str
) -> None:
    class Odd(TaggedError, category=Category.EXECUTION):
        number: int
        value: type_  # pyright: ignore[reportInvalidTypeForm]  # a parameter of the test

    for _ in range(2):
        with pytest.raises(TypeError, match=r"^Odd: the field 'value' has no JSON form: ") as info:
            codec(Leaf | Odd)
        assert reason in str(info.value)


def test_a_value_without_a_json_form_raises_type_error_when_it_is_encoded() -> None:
    class Anything(TaggedError, category=Category.EXECUTION):
        value: object

    wire = codec(Anything)
    assert wire.encode(Anything(('a', 1))) == b'{"_tag":"Anything","value":["a",1]}'
    assert wire.decode(b'{"_tag":"Anything","value":[1]}') == Anything([1])
    assert json_schema(Anything)['$defs']['Anything']['properties']['value'] == {
        'description': 'Any value.'
    }
    with pytest.raises(TypeError, match='complex has no JSON form'):
        wire.encode(Anything(1j))


class Unwritable(TaggedError, category=Category.EXECUTION):
    value: complex


def test_a_cause_with_a_field_without_a_json_form_raises_a_decode_error() -> None:
    with pytest.raises(msgspec.ValidationError, match='has no JSON form'):
        CODEC.decode(b'{"_tag":"Node","cause":{"_tag":"Unwritable","value":1}}')


class Sealed(TaggedError, namespace='test_codec', category=Category.AUTHENTICATION):
    key: Secret[str] = Secret('hunter2')
    pair: tuple[Secret[str], int] = msgspec.field(default=(Secret('hunter2'), 1), name='keyPair')
    tries: int = msgspec.field(default=3, name='attempts')


def test_the_schema_leaves_out_the_default_of_a_secret() -> None:
    sealed = Sealed()
    assert (sealed.key, sealed.pair[0]) == (Secret('hunter2'), Secret('hunter2'))
    schema = json_schema(Sealed)
    definition = schema['$defs']['Sealed']
    assert definition['required'] == ['_tag']
    assert definition['properties']['key'] == {
        'type': 'string',
        'description': 'Never shown.',
        'const': '***',
    }
    assert definition['properties']['attempts'] == {'type': 'integer', 'default': 3}
    assert 'default' not in definition['properties']['keyPair']
    assert 'hunter2' not in str(schema)
    assert codec(Sealed).decode(b'{"_tag":"Sealed"}') == sealed


KEY = Secret('hunter2')


@dataclass(frozen=True)
class Login:
    key: Secret[str] = KEY


@dataclass(frozen=True)
class LateLogin:
    key: Secret[str] = field(default_factory=lambda: KEY)


def test_the_default_of_a_secret_inside_a_dataclass_needs_a_factory() -> None:
    class Inner(TaggedError, category=Category.AUTHENTICATION):
        login: Login = Login()

    class LateInner(TaggedError, category=Category.AUTHENTICATION):
        login: LateLogin = LateLogin()

    with pytest.raises(TypeError, match=r'^Inner: a default of a class .* by a `default_factory`'):
        json_schema(Inner)
    assert 'hunter2' not in str(json_schema(LateInner))


def test_a_field_of_an_unsupported_type_has_no_schema() -> None:
    class Odd(TaggedError, category=Category.EXECUTION):
        value: complex

    with pytest.raises(TypeError, match='has no JSON Schema'):
        json_schema(Odd)


class Page(msgspec.Struct, frozen=True):
    titles: tuple[str, ...] = ()
    words: tuple[tuple[str, int], ...] = ()


class UnreadablePath(TaggedError, category=Category.EXECUTION):
    path: str
    pages: tuple[Page, ...] = ()
    facts: object = None
    cause: Cause | None = None


def test_lone_surrogates_are_encoded_as_replacement_characters() -> None:
    name = os.fsdecode(b'caf\xe9 \xff')
    error = UnreadablePath(
        name,
        pages=(Page((name,), ((name, 1),)),),
        facts={name: [name, Secret(name), 5, None]},
        cause=UnreadablePath(name, cause=OSError(2, 'missing', name)),
    )
    body = codec(UnreadablePath).encode(error)
    fields = json.loads(body)
    clean = 'caf\ufffd \ufffd'
    assert (fields['path'], fields['pages']) == (
        clean,
        [{'titles': [clean], 'words': [[clean, 1]]}],
    )
    assert fields['facts'] == {clean: [clean, '***', 5, None]}
    assert fields['cause']['path'] == clean
    assert 'udce9' in fields['cause']['cause']['message'], 'its text is a repr'
    decoded = codec(UnreadablePath).decode(body)
    assert decoded.path == clean
    assert find_cause(decoded, ReportedCause) is not None


def test_a_text_of_any_language_is_encoded_unchanged() -> None:
    body = codec(UnreadablePath).encode(UnreadablePath('é 说 😀 \udc80'))
    assert json.loads(body)['path'] == 'é 说 😀 \ufffd'


def chain_of(length: int) -> Node:
    node = Node()
    for _ in range(length - 1):
        node = Node(node)
    return node


@pytest.mark.parametrize('length', [1, 2, MAX_CAUSES - 1, MAX_CAUSES])
def test_a_chain_of_causes_up_to_the_limit_survives_a_round_trip(length: int) -> None:
    assert CODEC.decode(CODEC.encode(chain_of(length))) == chain_of(length)


@pytest.mark.parametrize(
    ('length', 'more'),
    [
        (MAX_CAUSES + 1, ''),
        (MAX_CAUSES + 2, ' … (1 more cause)'),
        (3000, ' … (2899 more causes)'),
        (50_000, ' … (49899 more causes)'),
    ],
)
def test_a_longer_chain_of_causes_is_cut_with_the_number_of_the_others(
    length: int, more: str
) -> None:
    first = chain_of(length)
    causes = list(error_chain(CODEC.decode(CODEC.encode(first))))
    assert [type(cause) for cause in causes] == [Node] * MAX_CAUSES + [ReportedCause]
    assert str(causes[-1]) == f'Node: Node.{more}'
    assert len(list(error_chain(first))) == length


class Recursive(TaggedError, category=Category.EXECUTION):
    cause: Optional['Recursive'] = None


class Wrapping(TaggedError, category=Category.EXECUTION):
    cause: Cause


class StrictCause(TaggedError, category=Category.EXECUTION):
    cause: Union['StrictCause', Leaf]


def test_a_chain_is_cut_where_its_type_allows_it() -> None:
    inner = Recursive()
    for _ in range(200):
        inner = Recursive(inner)
    wire = codec(Recursive | Wrapping | StrictCause | Leaf)
    assert len(list(error_chain(wire.decode(wire.encode(inner))))) == MAX_CAUSES
    strict = StrictCause(Leaf(1))
    for _ in range(200):
        strict = StrictCause(strict)
    causes = list(error_chain(wire.decode(wire.encode(Wrapping(Wrapping(strict))))))
    assert [type(cause) for cause in causes] == [Wrapping, Wrapping, ReportedCause]
    assert str(causes[-1]).endswith('(201 more causes)')


def test_errors_that_contain_each_other_too_deeply_raise_value_error() -> None:
    strict = StrictCause(Leaf(1))
    for _ in range(20_000):
        strict = StrictCause(strict)
    with pytest.raises(ValueError, match=r'^StrictCause is nested too deeply for JSON\.$'):
        codec(StrictCause).encode(strict)


def test_a_cycle_of_causes_is_cut() -> None:
    node = Node()
    msgspec.structs.force_setattr(node, 'cause', node)
    with pytest.raises(ValueError, match='nested too deeply'):
        CODEC.encode(node)


@pytest.mark.parametrize('depth', [3000, 100_000])
def test_a_body_that_is_nested_too_deeply_raises_a_decode_error(depth: int) -> None:
    body = b'{"_tag":"Node","cause":' * depth + b'{"_tag":"Node"}' + b'}' * depth
    with pytest.raises(msgspec.DecodeError, match='nested too deeply'):
        CODEC.decode(body)


class GenericError(TaggedError, Generic[T], category=Category.VALIDATION):
    value: T


def test_a_generic_class_is_decoded_with_its_argument() -> None:
    wire = codec(GenericError[int] | Leaf)
    assert wire.decode(wire.encode(GenericError(3))) == GenericError(3)
    with pytest.raises(msgspec.ValidationError, match='Expected `int`, got `str`'):
        wire.decode(b'{"_tag":"GenericError","value":"x"}')
    plain: Any = GenericError
    assert codec(plain).decode(b'{"_tag":"GenericError","value":"x"}') == GenericError('x')
    schema: Any = json_schema(GenericError[int])
    value = schema['$defs']['GenericError_int_']['properties']['value']
    assert value == {'type': 'integer'}


def test_two_arguments_of_a_generic_class_in_a_union_raise_type_error() -> None:
    with pytest.raises(TypeError, match='GenericError'):
        codec(GenericError[int] | GenericError[str])


def test_the_schema_of_a_union_discriminates_its_members_by_tag() -> None:
    schema = json_schema(Leaf | Node | Guarded)
    assert schema['discriminator'] == {
        'propertyName': '_tag',
        'mapping': {'Leaf': '#/$defs/Leaf', 'Node': '#/$defs/Node', 'Guarded': '#/$defs/Guarded'},
    }
    assert schema['$defs']['Guarded']['properties']['password']['const'] == '***'
    json.dumps(schema)


OneError = TypeAliasType('OneError', Leaf | Guarded)
AliasOfAnAlias = TypeAliasType('AliasOfAnAlias', OneError)
OrLeaf = TypeAliasType('OrLeaf', T | Leaf, type_params=(T,))
Same = TypeAliasType('Same', T, type_params=(T,))


@pytest.mark.parametrize(
    ('union', 'members'),
    [
        (OneError, [Leaf, Guarded]),
        (AliasOfAnAlias, [Leaf, Guarded]),
        (OrLeaf[Guarded], [Guarded, Leaf]),
        (Same[OneError], [Leaf, Guarded]),
        (Union[OneError, Node], [Leaf, Guarded, Node]),  # noqa: UP007 -- also without `|`
    ],
)
def test_an_alias_of_a_type_statement_stands_for_its_union(union: Any, members: list[Any]) -> None:
    assert [*error_classes(union)] == members
    assert codec(union).decode(b'{"_tag":"Leaf","number":3}') == Leaf(3)
    assert {*json_schema(union)['$defs']} == {member.__name__ for member in members}


@pytest.mark.skipif(sys.version_info < (3, 12), reason='msgspec needs the class of Python 3.12')
def test_a_field_may_have_an_alias_as_its_type() -> None:
    # The class of typing_extensions, used above, is another one.
    create: Any = vars(typing)['TypeAliasType']
    alias = create('Inner', create('OneOfTwo', Leaf | Guarded))

    class Aliased(TaggedError, category=Category.EXECUTION):
        inner: alias  # type: ignore[valid-type]  # made above

    error = Aliased(Leaf(3))
    assert codec(Aliased).decode(codec(Aliased).encode(error)) == error


class Tip(TaggedError, namespace='test_codec', category=Category.CAPACITY):
    delay: float | None = None


class Branch(msgspec.Struct, frozen=True, rename='camel'):
    main_tip: Tip | None = None


@dataclass(frozen=True)
class Twig:
    tip: Tip
    by_number: typing.Mapping[int, Tip] = field(default_factory=dict[int, Tip])


class Fork(typing.NamedTuple):
    left: Tip
    right: Tip


@attrs.frozen
class Root:
    tip: Tip


class Wood(TaggedError, namespace='test_codec', category=Category.CAPACITY):
    twig: Twig | None = None
    fork: Fork | None = None
    root: Root | None = None


class Tree(TaggedError, namespace='test_codec', category=Category.CAPACITY):
    tip: Tip | None = None
    tips: tuple[Tip | None, ...] = ()
    pair: tuple[int, Tip] = (1, Tip())
    others: frozenset[Tip] = frozenset()
    branch: Branch = Branch()
    cause: Cause | None = None


@pytest.mark.parametrize(
    ('kind', 'body', 'path'),
    [
        (Tip, b'{"balance":250}', ''),
        (Tip, b'{}', ''),
        (Tip | Leaf, b'{}', ''),
        (Tree, b'{"_tag":"Tree","tip":{}}', ' - at `$.tip`'),
        (Tree, b'{"_tag":"Tree","tips":[null,{"_tag":"Tip"},{}]}', ' - at `$.tips[2]`'),
        (Tree, b'{"_tag":"Tree","pair":[1,{}]}', ' - at `$.pair[1]`'),
        (Tree, b'{"_tag":"Tree","others":[{}]}', ' - at `$.others[0]`'),
        (Tree, b'{"_tag":"Tree","branch":{"mainTip":{}}}', ' - at `$.branch.mainTip`'),
        (Tree, b'{"_tag":"Tree","cause":{"_tag":"Tree","tip":{}}}', ' - at `$.tip`'),
        (Wood, b'{"_tag":"Wood","twig":{"tip":{}}}', ' - at `$.twig.tip`'),
        (
            Wood,
            b'{"_tag":"Wood","twig":{"tip":{"_tag":"Tip"},"by_number":{"7":{}}}}',
            ' - at `$.twig.by_number.7`',
        ),
        (Wood, b'{"_tag":"Wood","fork":[{"_tag":"Tip"},{}]}', ' - at `$.fork[1]`'),
        (Wood, b'{"_tag":"Wood","root":{"tip":{}}}', ' - at `$.root.tip`'),
    ],
)
def test_the_tag_is_required(kind: Any, body: bytes, path: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        codec(kind).decode(body)
    assert str(refused.value).startswith(f'Object missing required field `_tag`{path}')


def test_errors_in_all_fields_survive_a_round_trip() -> None:
    tips = Tip(1.0), None, Tip()
    branch = Branch(Tip(4.0))
    error = Tree(Tip(), tips, (2, Tip(2.0)), frozenset({Tip(3.0)}), branch, Tree(Tip()))
    assert codec(Tree).decode(codec(Tree).encode(error)) == error
    wood = Wood(Twig(Tip(), {1: Tip(5.0)}), Fork(Tip(), Tip(6.0)), Root(Tip()))
    assert codec(Wood).decode(codec(Wood).encode(wood)) == wood


def test_the_private_tag_of_a_decoder_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match=r'^Invalid value for `_tag`'):
        codec(Tip).decode('{"_tag":"\\u0000"}')


class Text(TaggedError, namespace='test_codec', category=Category.CAPACITY):
    texts: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ('body', 'message'),
    [
        (b'{"_tag":"Text","texts":["a","\xff"]}', '/texts/1 is not valid UTF-8: '),
        (b'{"_tag":"\xff"}', '/_tag is not valid UTF-8: '),
        ('{"_tag":"Text","texts":["\ud800"]}', '/texts/0 is not valid UTF-8: '),
        ('{"_tag":"Text","\ud800":7}', "'utf-8' codec can't encode"),
        ('{"_tag":"Text","texts":["\ud800"', "'utf-8' codec can't encode"),
        (memoryview(b'{"_tag":"Text","texts":["\xff"]}'), '/texts/0 is not valid UTF-8: '),
    ],
)
def test_a_body_that_is_not_utf_8_raises_a_decode_error(body: Any, message: str) -> None:
    with pytest.raises(msgspec.DecodeError) as refused:
        codec(Text).decode(body)
    assert str(refused.value).startswith(message)


class Measured(TaggedError, namespace='test_codec', category=Category.CAPACITY):
    values: tuple[float, ...] = ()
    count: int = 0
    limit: int | None = None
    cause: Cause | None = None


@pytest.mark.parametrize(
    ('error', 'message'),
    [
        (Measured((1.5, math.nan)), 'Measured: /values/1 must be a finite number, not nan'),
        (Measured((-math.inf,), limit=1), 'Measured: /values/0 must be a finite number, not -inf'),
        (Measured(count=10**5000), 'Measured: /count must have at most 4,300 digits'),
        (
            Measured(cause=Measured((math.inf,))),
            'Measured: /cause/values/0 must be a finite number, not inf',
        ),
    ],
)
def test_a_number_without_a_json_form_raises_an_encode_error(error: Measured, message: str) -> None:
    with pytest.raises(msgspec.EncodeError) as refused:
        codec(Measured).encode(error)
    assert str(refused.value) == message


def test_a_long_number_that_json_can_represent_is_encoded() -> None:
    assert b'"count":1000' in codec(Measured).encode(Measured(count=10**4000))


class Priced(TaggedError, namespace='test_codec', category=Category.CONFLICT):
    name: str
    price: 'Decimal | None'


class Dear(TaggedError, namespace='test_codec', category=Category.CONFLICT):
    prices: tuple[Priced, ...]


@pytest.mark.parametrize('create', [codec, json_schema])
def test_a_type_for_type_checkers_only_raises_type_error_with_class_and_field(
    create: Callable[[Any], object],
) -> None:
    with pytest.raises(TypeError) as refused:
        create(Priced | Leaf)
    assert str(refused.value) == (
        "Priced: the type of the field 'price' is unknown at run time: there is no 'Decimal' in "
        f'{__name__}. Import it outside of `if TYPE_CHECKING:`, and define it at the top level of '
        'the module.'
    )
    with pytest.raises(TypeError, match=r"Dear: the field 'prices' .*'Decimal'"):
        codec(Dear)


class MaybePriced(TaggedError, namespace='test_codec', category=Category.CONFLICT):
    price: Optional['Decimal'] = None


class SecretlyPriced(TaggedError, namespace='test_codec', category=Category.CONFLICT):
    user: str
    price: Secret['Decimal']


@pytest.mark.parametrize('kind', [MaybePriced, SecretlyPriced])
def test_a_field_is_named_whose_inner_type_is_for_type_checkers_only(kind: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{kind.__name__}: the type of the field 'price'"):
        codec(kind)


def test_the_schema_of_a_type_that_was_deleted_after_its_check_raises_name_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Sold(TaggedError, category=Category.CONFLICT):
        price: 'Price'  # type: ignore[name-defined]  # noqa: F821 -- it exists during the check

    monkeypatch.setitem(globals(), 'Price', int)
    codec(Sold)
    monkeypatch.undo()
    with pytest.raises(NameError, match='Price'):
        json_schema(Sold)


def test_a_type_of_a_function_raises_type_error_with_class_and_field() -> None:
    class Local(msgspec.Struct, frozen=True):
        pass

    class Wide(TaggedError, category=Category.CONFLICT):
        inner: 'Local'

    with pytest.raises(TypeError, match=r"^Wide: the type of the field 'inner' .* no 'Local' in"):
        codec(Wide)
