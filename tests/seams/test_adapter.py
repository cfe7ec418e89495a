"""Tests of adapters: arms, joining, hidden errors, and whole unions."""

from typing import Any

import pytest

from seamwise import Category, TaggedError
from seamwise.seams import cli, http, jsonrpc, model, planner, session
from seamwise.seams.adapter import Adapter, Hidden


class Lost(
    TaggedError, namespace='test_adapter', category=Category.NOT_FOUND, message='{what} is lost.'
):
    """A thing is lost."""

    what: str


class Broken(TaggedError, category=Category.CONFLICT, message='It is broken.'):
    """A thing is broken."""


def lost(error: Lost) -> str:
    return f'lost: {error.what}'


def broken(error: Broken) -> str:
    return 'broken'


LOST: Adapter[Lost, str] = Adapter({Lost: lost})
BROKEN: Adapter[Broken, str] = Adapter({Broken: broken})
BOTH = LOST | BROKEN


def test_an_error_is_shown_by_the_arm_of_its_class() -> None:
    assert (BOTH(Lost('key')), BOTH(Broken())) == ('lost: key', 'broken')


def test_an_error_of_a_subclass_is_shown_by_the_arm_of_the_nearest_base() -> None:
    any_lookup: Adapter[LookupError, str] = Adapter(
        {Exception: lambda _: 'any', LookupError: lambda _: 'lookup'}
    )
    assert any_lookup(KeyError('k')) == 'lookup'


def test_an_error_without_an_arm_is_a_type_error() -> None:
    with pytest.raises(TypeError, match='No arm covers Broken; this adapter covers Lost'):
        LOST(Broken())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_joining_adapters_with_a_common_class_is_a_type_error() -> None:
    with pytest.raises(TypeError, match='Lost has two arms'):
        _ = BOTH | LOST


def test_joining_an_adapter_with_a_function_is_a_type_error() -> None:
    with pytest.raises(TypeError, match='unsupported operand'):
        _ = LOST | lost  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue]


def test_joining_adapters_changes_neither_of_them() -> None:
    assert (LOST.kinds, BROKEN.kinds, BOTH.kinds) == ((Lost,), (Broken,), (Lost, Broken))


def test_the_arms_of_an_adapter_are_read_only() -> None:
    assert dict(BOTH.arms) == {Lost: lost, Broken: broken}
    with pytest.raises(TypeError, match='does not support item assignment'):
        BOTH.arms[Lost] = broken  # type: ignore[index]  # pyright: ignore[reportIndexIssue]


def test_a_hidden_error_is_a_runtime_error_with_its_name() -> None:
    hidden: Adapter[Lost, str] = Adapter({Lost: Hidden(Lost, 'http')})
    with pytest.raises(
        RuntimeError, match='Lost was declared never to reach the http seam, but Lost did'
    ):
        hidden(Lost('key'))


@pytest.mark.parametrize('seam', [cli, http, jsonrpc, model, planner, session])
def test_a_union_is_hidden_as_a_whole(seam: Any) -> None:
    adapter = seam.on(Lost | Broken).hidden()
    assert adapter.kinds == (Lost, Broken)
    name = seam.__name__.rpartition('.')[2]
    with pytest.raises(RuntimeError, match=f'Broken was declared never to reach the {name} seam'):
        adapter(Broken())


def test_a_union_with_another_type_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="not <class 'int'>"):
        http.on(Lost | int)  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_a_union_has_only_the_verb_hidden() -> None:
    assert not hasattr(http.on(Lost | Broken), 'responds')
