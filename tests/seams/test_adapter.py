"""Tests of adapters: arms, joining, hidden errors, and whole unions."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from time import sleep
from typing import Any

import pytest
from starlette.applications import Starlette

from seamwise import Category, Failure, Success, TaggedError
from seamwise.catalog.storage import RecordExists, RecordNotFound, StorageError, StoreClosed
from seamwise.seams import cli, http, jsonrpc, model, planner, session
from seamwise.seams.adapter import Adapter, Hidden
from seamwise.seams.http.tables import STORAGE
from seamwise.testing import assert_covers
from seamwise.toolhost import ToolOutcome

SEAMS = (cli, http, jsonrpc, model, planner, session)


def seam_name(seam: Any) -> str:
    return str(seam.__name__).rpartition('.')[2]


class Lost(
    TaggedError, namespace='test_adapter', category=Category.NOT_FOUND, message='{what} is lost.'
):
    """A thing is lost."""

    what: str


class Broken(TaggedError, category=Category.CONFLICT, message='It is broken.'):
    """A thing is broken."""


class Other(TaggedError, category=Category.CONFLICT, message='It is something else.'):
    """Another error."""


def lost(error: Lost) -> str:
    return f'lost: {error.what}'


def broken(error: Broken) -> str:
    return 'broken'


def to_text(error: Broken | Other) -> str:
    return error.tag


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


def test_joining_different_arms_for_a_class_is_a_type_error() -> None:
    other: Adapter[Lost, str] = Adapter({Lost: str})
    with pytest.raises(
        TypeError,
        match=r'Lost has two arms; remove one of them, or replace the first with `\.but\(…\)`',
    ):
        _ = BOTH | other


def test_adapters_that_share_an_arm_are_joined() -> None:
    other: Adapter[Other, str] = Adapter({Other: str})
    joined = (LOST | BROKEN) | (other | BROKEN)
    assert joined.kinds == (Lost, Broken, Other)
    assert joined.arms[Broken] is broken


@pytest.mark.parametrize('seam', SEAMS, ids=seam_name)
def test_tables_of_the_catalogue_may_share_a_table(seam: Any) -> None:
    tables = import_module(f'{seam.__name__}.tables')
    for access, storage, network in zip(
        revisions(tables.ACCESS), revisions(tables.STORAGE), revisions(tables.NETWORK), strict=True
    ):
        joined = (storage | access) | (network | access)
        assert set(joined.kinds) == {*storage.kinds, *access.kinds, *network.kinds}


def revisions(table: Any) -> list[Adapter[Any, Any]]:
    return list(table.values()) if hasattr(table, 'values') else [table]


def test_an_adapter_is_joined_with_a_function_on_either_side() -> None:
    for joined in (LOST | to_text, to_text | LOST):
        assert {*joined.kinds} == {Lost, Broken, Other}
        assert [joined(Lost('key')), joined(Other())] == ['lost: key', 'Other']
    assert (LOST | to_text | (to_text | LOST)).kinds == (Lost, Broken, Other)


def test_a_function_and_an_arm_for_one_class_are_a_type_error() -> None:
    with pytest.raises(TypeError, match='Broken has two arms'):
        _ = BROKEN | to_text
    with pytest.raises(TypeError, match='Broken has two arms'):
        _ = to_text | BROKEN


@pytest.mark.parametrize('value', [3, Lost], ids=['a value', 'a class'])
def test_joining_an_adapter_with_no_function_is_a_type_error(value: Any) -> None:
    message = r'`\|` takes an adapter or a function, not (int|Lost): '
    with pytest.raises(TypeError, match=message):
        _ = LOST | value
    with pytest.raises(TypeError, match=message):
        _ = value | LOST


def test_but_replaces_arms_and_keeps_the_others_in_their_order() -> None:
    adapter = BOTH.but(Adapter({Lost: str}))
    assert (adapter.kinds, adapter.arms[Lost], adapter.arms[Broken]) == (
        (Lost, Broken),
        str,
        broken,
    )
    assert BOTH.arms[Lost] is lost


def test_but_without_an_arm_to_replace_is_a_type_error() -> None:
    with pytest.raises(
        TypeError,
        match=r'no arm for Broken to replace; add one with `\|`\. This adapter covers Lost\.',
    ):
        LOST.but(BROKEN)


def test_a_function_replaces_arms() -> None:
    def shout(error: Broken) -> str:
        return f'{error.tag}!'

    adapter = BOTH.but(shout)
    assert (adapter.kinds, adapter(Broken())) == (BOTH.kinds, 'Broken!')
    with pytest.raises(TypeError, match='no arm for Other to replace'):
        BROKEN.but(to_text)
    with pytest.raises(TypeError, match='`but` takes an adapter or a function, not int'):
        BROKEN.but(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize('seam', SEAMS, ids=seam_name)
def test_but_replaces_arms_at_every_seam(seam: Any) -> None:
    tables = import_module(f'{seam.__name__}.tables')
    hidden = seam.on(StorageError).hidden()
    for table in revisions(tables.STORAGE):
        adapter = table.but(hidden)
        assert adapter.kinds == table.kinds
        assert dict(adapter.arms) == dict(hidden.arms)


def test_a_replaced_table_still_covers_its_union() -> None:
    assert_covers(
        STORAGE.but(http.on(RecordNotFound).responds(410, 'GONE') | http.on(StoreClosed).hidden()),
        StorageError,
    )


def test_a_postponed_adapter_is_built_once_and_on_first_use() -> None:
    built: list[str] = []

    def build() -> Adapter[Lost, str]:
        built.append('built')
        return LOST

    adapter = Adapter(build)
    assert built == []
    assert (adapter(Lost('key')), adapter.kinds, adapter.arms[Lost]) == ('lost: key', (Lost,), lost)
    assert built == ['built']


def test_a_postponed_adapter_is_built_once_by_many_threads() -> None:
    builds = 0

    def build() -> Adapter[Lost, str]:
        nonlocal builds
        builds += 1
        sleep(0.01)
        return Adapter({Lost: lambda error: error.what})

    adapter = Adapter(build)
    with ThreadPoolExecutor(8) as pool:
        arms = [pool.submit(lambda: adapter.arms[Lost]) for _ in range(8)]
    assert (builds, len({arm.result() for arm in arms})) == (1, 1)


def test_an_adapter_whose_builder_failed_is_built_again() -> None:
    results: list[Adapter[Lost, str]] = []
    adapter = Adapter(lambda: results[0])
    with pytest.raises(IndexError):
        adapter(Lost('key'))
    results.append(LOST)
    assert adapter(Lost('key')) == 'lost: key'


@pytest.mark.parametrize('seam', SEAMS, ids=seam_name)
@pytest.mark.parametrize('kind', [ValueError, int, ValueError | TypeError, int | str])
def test_an_arm_for_another_class_than_a_tagged_error_is_a_type_error(seam: Any, kind: Any) -> None:
    with pytest.raises(TypeError, match='tagged errors'):
        seam.on(kind)


def test_an_arm_for_an_exception_names_the_seam_and_the_remedy() -> None:
    with pytest.raises(
        TypeError, match=r'on. of the cli seam .*, not .*ValueError.*, with `attempt` or `caught`'
    ):
        cli.on(ValueError)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType, reportCallIssue]


@pytest.mark.parametrize('seam', SEAMS, ids=seam_name)
def test_a_table_imports_only_the_domain_of_its_errors(seam: Any) -> None:
    name = seam.__name__
    script = f"""
import sys, {name}
def domains():
    return {{name for name in sys.modules if name.startswith('seamwise.catalog.')}}
before = domains()
from {name}.tables import STORAGE
assert domains() - before <= {{'seamwise.catalog.problem'}}, domains() - before
for adapter in getattr(STORAGE, 'values', lambda: [STORAGE])():
    adapter.kinds
assert domains() - before <= {{'seamwise.catalog.problem', 'seamwise.catalog.storage'}}
assert 'seamwise.catalog.workspace' not in domains()
"""
    subprocess.run([sys.executable, '-c', script], check=True)


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


@pytest.mark.parametrize('seam', SEAMS, ids=seam_name)
def test_a_union_is_hidden_as_a_whole(seam: Any) -> None:
    adapter = seam.on(Lost | Broken).hidden()
    assert adapter.kinds == (Lost, Broken)
    name = seam_name(seam)
    with pytest.raises(RuntimeError, match=f'Broken was declared never to reach the {name} seam'):
        adapter(Broken())


def test_a_union_with_another_type_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="not <class 'int'>"):
        http.on(Lost | int)  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_a_union_has_only_the_verb_hidden() -> None:
    assert not hasattr(http.on(Lost | Broken), 'responds')


@pytest.mark.parametrize(
    ('wrong', 'message'),
    [
        (RecordNotFound, 'RecordNotFound is a class, not an error: create one, as in '),
        (Failure(RecordNotFound('a', 'b')), 'Failure is a result, not an error: pass its error; '),
        (Success(7), 'Success is a result, not an error: pass its error; '),
    ],
)
def test_a_class_and_a_result_are_refused_with_advice(wrong: Any, message: str) -> None:
    adapter: Any = cli.on(RecordNotFound).exits(66)
    with pytest.raises(TypeError) as refused:
        adapter(wrong)
    assert str(refused.value).startswith(message)
    assert str(refused.value).endswith('; this adapter covers RecordNotFound.')


def test_tables_of_different_seams_cannot_be_joined() -> None:
    arms: list[Any] = [cli.on(RecordExists).exits(1), cli.on(RecordExists).hidden()]
    for arm in arms:
        table: Any = http.on(RecordNotFound).responds(404, 'A') | http.on(StoreClosed).hidden()
        with pytest.raises(TypeError, match='of the http seam cannot be joined'):
            _ = table | arm
        with pytest.raises(TypeError, match='cannot be joined'):
            table.but(arm)


def test_a_table_may_be_joined_with_arms_of_a_program() -> None:
    own: Any = Adapter({RecordExists: str})
    assert (cli.on(RecordNotFound).exits(66) | own).kinds == (RecordNotFound, RecordExists)


class Chat:
    """A session that receives no events."""

    locale = 'en'
    session_id = None

    def send(self, event: object) -> None:
        pytest.fail('It is refused.')


OTHER: Any = model.on(RecordNotFound).hidden()
STARTS: dict[str, Callable[[], object]] = {
    'http': lambda: http.install(Starlette(), OTHER),
    'http, one handler': lambda: http.endpoint(OTHER),
    'http, middleware': lambda: http.SafeErrors(Starlette(), adapter=OTHER),
    'cli': lambda: cli.main(lambda: Success(0), OTHER),
    'session': lambda: session.observer(Chat(), adapter=OTHER),
    'session, retry': lambda: session.chat_retry(Chat(), adapter=OTHER),
}


@pytest.mark.parametrize('use', STARTS)
def test_a_table_of_another_seam_is_refused_before_the_first_error(use: str) -> None:
    seam = use.partition(',')[0]
    with pytest.raises(TypeError, match=f'A table of the model seam cannot be used at the {seam}'):
        STARTS[use]()


def test_a_table_of_another_seam_is_refused_for_an_error() -> None:
    failure: Any = Failure(RecordNotFound('a', 'b'))
    outcome: Any = ToolOutcome(1, None, failure, attempts=1, waited=0.0, duration=0.001)
    texts: Any = Adapter({RecordNotFound: str})
    uses: dict[str, Callable[[], object]] = {
        'HttpError': lambda: http.to_response(failure, texts, headers={}, operation='GET'),
        'Rendered': lambda: cli.report(failure, texts, stdout=sys.stdout, stderr=sys.stderr),
        'ErrorEvent': lambda: session.event(failure.failure(), adapter=texts, locale='en'),
        'Guidance': lambda: model.tool_message(failure, adapter=texts, call_id='1'),
        'ErrorInfo': lambda: planner.classify(outcome, adapter=texts),
        'RpcError or ToolResult': lambda: jsonrpc.response(
            failure,
            id=1,
            adapter=texts,
            protocol=jsonrpc.Protocol.JSON_RPC,
            revision='2.0',
        ),
    }
    for shape, use in uses.items():
        with pytest.raises(TypeError, match=f'returned str instead of {shape}; each seam has'):
            use()
