"""Tables from errors to shapes: closed, added up, each kind decided once."""

from typing import Any

import pytest

from seamwise import Category, TaggedError
from seamwise.seams import cli, http, jsonrpc, model, planner, session
from seamwise.seams.adapter import Adapter, Hidden


class Lost(
    TaggedError, namespace='test_adapter', category=Category.NOT_FOUND, message='{what} is lost.'
):
    """It is lost."""

    what: str


class Broken(TaggedError, category=Category.CONFLICT, message='It is broken.'):
    """It is broken."""


def lost(error: Lost) -> str:
    return f'lost: {error.what}'


def broken(error: Broken) -> str:
    return 'broken'


LOST: Adapter[Lost, str] = Adapter({Lost: lost})
BROKEN: Adapter[Broken, str] = Adapter({Broken: broken})
BOTH = LOST | BROKEN


def test_each_kind_is_shown_by_its_own_arm() -> None:
    assert (BOTH(Lost('key')), BOTH(Broken())) == ('lost: key', 'broken')


def test_a_subclass_is_shown_by_the_nearest_base() -> None:
    any_lookup: Adapter[LookupError, str] = Adapter(
        {Exception: lambda _: 'any', LookupError: lambda _: 'lookup'}
    )
    assert any_lookup(KeyError('k')) == 'lookup'


def test_what_no_arm_covers_is_a_bug_and_named() -> None:
    with pytest.raises(TypeError, match='No arm covers Broken; this adapter covers Lost'):
        LOST(Broken())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_kind_is_decided_once() -> None:
    with pytest.raises(TypeError, match='Lost has two arms'):
        _ = BOTH | LOST


def test_only_adapters_add_up() -> None:
    with pytest.raises(TypeError, match='unsupported operand'):
        _ = LOST | lost  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue]


def test_adding_up_changes_neither_part() -> None:
    assert (LOST.kinds, BROKEN.kinds, BOTH.kinds) == ((Lost,), (Broken,), (Lost, Broken))


def test_the_declared_answers_can_be_read_but_not_changed() -> None:
    assert dict(BOTH.arms) == {Lost: lost, Broken: broken}
    with pytest.raises(TypeError, match='does not support item assignment'):
        BOTH.arms[Lost] = broken  # type: ignore[index]  # pyright: ignore[reportIndexIssue]


def test_what_was_declared_hidden_names_itself_where_it_turns_up() -> None:
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


def test_a_union_with_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="not <class 'int'>"):
        http.on(Lost | int)  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_a_union_has_no_verb_but_hidden() -> None:
    assert not hasattr(http.on(Lost | Broken), 'responds')
