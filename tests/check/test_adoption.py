"""Tests of the adoption report: counts, exception paths, and migration steps."""

import json
import textwrap
from pathlib import Path

import pytest

from seamwise.check.adoption.render import render_adoption_json, render_adoption_text
from seamwise.check.adoption.report import AdoptionReport, adoption_report
from seamwise.check.adoption.steps import MigrationStep

# Each test runs mypy.
pytestmark = pytest.mark.slow

SHOP = """
from contextlib import suppress


class ShopError(Exception):
    pass


class NoOrder(ShopError):
    pass


class Store:
    def find(self, uid: int) -> str:
        if uid == 0:
            raise NoOrder(uid)
        return 'tea'


def show(store: Store, uid: int) -> str:
    return store.find(uid)


def main() -> int:
    try:
        print(show(Store(), 1))
    except ShopError:
        return 1
    return 0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report_of(source: str, **others: str) -> AdoptionReport:
    for name, text in {'shop': source, **others}.items():
        Path(f'{name}.py').write_text(textwrap.dedent(text), encoding='utf-8')
    report = adoption_report(['.'])
    assert report.problems == ()
    return report


def steps_of(source: str, kind: str, **others: str) -> list[MigrationStep]:
    return [step for step in report_of(source, **others).steps if step.kind == kind]


def test_exception_class_is_followed_from_raise_to_handler() -> None:
    [step] = steps_of(SHOP, 'error')
    assert (step.path, step.line, step.name, step.touches) == ('shop.py', 9, 'NoOrder', 3)
    assert step.why == 'is raised by `Store.find` and caught in `main` (shop.py:27).'
    assert step.how == 'Make it a TaggedError, and return it in a Failure from `Store.find`.'


def test_functions_that_propagate_an_exception_are_counted() -> None:
    counts = report_of(SHOP).counts
    assert (counts.functions, counts.raising, counts.fallible) == (3, 2, 2)


def test_exception_without_handler_is_never_caught() -> None:
    [step] = steps_of(
        'class Broken(Exception): ...\ndef fail() -> None:\n    raise Broken', 'error'
    )
    assert step.why == 'is raised by `fail` and never caught.'


def test_exception_caught_on_some_paths_only_is_described() -> None:
    source = """
    class Broken(Exception): ...
    def fail() -> None:
        raise Broken
    def careful() -> None:
        try:
            fail()
        except Broken:
            pass
    def careless() -> None:
        fail()
    """
    [step] = steps_of(source, 'error')
    assert (
        step.why
        == 'is raised by `fail` and caught in `careful` (shop.py:8), but not on every path.'
    )
    assert step.touches == 3


def test_exception_is_caught_in_another_file() -> None:
    caller = """
    import shop
    try:
        shop.show(shop.Store(), 0)
    except (KeyError, shop.ShopError):
        pass
    """
    [step] = steps_of(SHOP, 'error', caller=caller)
    assert (
        step.why == 'is raised by `Store.find` and caught in caller.py:5 and `main` (shop.py:27).'
    )


@pytest.mark.parametrize(
    ('head', 'is_caught'),
    [
        ('except Broken:\n            pass', True),
        ('except (OSError, Broken):\n            pass', True),
        ('except MINE:\n            pass', True),
        ('except Exception:\n            pass', True),
        ('except:\n            pass', True),
        ('except OSError:\n            pass', False),
        ('except Broken:\n            raise', False),
        ('except Broken as error:\n            raise error', False),
        ('except OSError:\n            pass\n        except Broken:\n            pass', True),
        ('except Broken:\n            raise\n        except Exception:\n            pass', False),
        ('finally:\n            pass', False),
    ],
)
def test_handler_stops_exceptions_that_it_catches_and_does_not_reraise(
    head: str, is_caught: bool
) -> None:
    source = f"""
    class Base(Exception): ...
    class Broken(Base): ...
    MINE = (Broken, ValueError)
    def run(flag: bool) -> None:
        try:
            if flag:
                raise Broken
        {head}
    """
    assert report_of(source).counts.raising == (not is_caught)


def test_suppress_stops_the_named_exceptions() -> None:
    source = """
    from contextlib import suppress
    def quiet() -> None:
        with suppress(ValueError):
            raise ValueError
    def loud() -> None:
        with suppress(OSError):
            raise ValueError
    """
    assert [step.name for step in steps_of(source, 'raise')] == ['loud']


def test_exception_raised_in_a_handler_is_not_caught_by_its_siblings() -> None:
    source = """
    def again(text: str) -> int:
        try:
            return int(text)
        except ValueError as raised:
            raise LookupError(text) from raised
        except LookupError:
            return 0
    """
    [step] = steps_of(source, 'raise')
    assert step.why == 'raises LookupError, which is never caught.'


def test_reraised_exception_of_a_handler_is_not_counted() -> None:
    source = """
    def hand_on(path: str) -> str:
        try:
            return open(path).read()
        except OSError as raised:
            raise raised
    """
    assert report_of(source).counts.fallible == 0


def test_translating_handler_stops_one_class_and_raises_another() -> None:
    source = """
    class Low(Exception): ...
    class High(Exception): ...
    def low() -> None:
        raise Low
    def high() -> None:
        try:
            low()
        except Low as raised:
            raise High from raised
    """
    low, high = sorted(steps_of(source, 'error'), key=lambda step: step.line)
    assert low.why == 'is raised by `low` and caught in `high` (shop.py:9).'
    assert high.why == 'is raised by `high` and never caught.'


def test_method_is_found_by_type_of_its_object_or_by_its_base_class() -> None:
    source = """
    from typing import Protocol
    class Gone(Exception): ...
    class Source(Protocol):
        def read(self) -> str: ...
    class Disk(Source):
        def read(self) -> str:
            raise Gone
    class Other:
        def read(self) -> str:
            return ''
    def disk(source: Source) -> str:
        return source.read()
    def other(source: Other) -> str:
        return source.read()
    """
    [step] = steps_of(source, 'error')
    assert step.touches == 2
    assert report_of(source).counts.raising == 2


def test_creating_an_object_calls_its_constructor() -> None:
    source = """
    class Port:
        def __init__(self, number: int) -> None:
            if number < 0:
                raise ValueError(number)
    def port(text: str) -> Port:
        return Port(int(text))
    """
    report = report_of(source)
    assert report.counts.raising == 1
    assert [step for step in report.steps if step.kind == 'raise'] == []


@pytest.mark.parametrize(
    'kind', ['AssertionError', 'NotImplementedError', 'SystemExit', 'KeyboardInterrupt']
)
def test_defects_and_signals_are_not_counted(kind: str) -> None:
    assert report_of(f'def stop() -> None:\n    raise {kind}').percent is None


def test_special_methods_are_not_counted() -> None:
    source = """
    class Bag:
        def __getitem__(self, key: str) -> int:
            raise KeyError(key)
    """
    assert report_of(source).counts.fallible == 0


def test_lambda_and_inner_function_raise_in_their_caller() -> None:
    source = """
    from collections.abc import Callable
    class Bad(Exception): ...
    def bad() -> int:
        raise Bad
    def later() -> Callable[[], int]:
        return lambda: bad()
    def inner() -> Callable[[], int]:
        def run() -> int:
            return bad()
        return run
    def now() -> int:
        def run() -> int:
            return bad()
        return run()
    """
    [step] = steps_of(source, 'error')
    assert step.touches == 4  # bad, both `run`, now


def test_recursive_functions_are_followed_once() -> None:
    source = """
    class Odd(Exception): ...
    def first(count: int) -> None:
        if not count:
            raise Odd
        second(count - 1)
    def second(count: int) -> None:
        first(count)
    """
    [step] = steps_of(source, 'error')
    assert step.touches == 2


RETURNS = """
from returns.future import FutureResult, future_safe
from returns.io import IOResult, impure_safe
from returns.maybe import Maybe
from returns.result import Failure, Result, ResultE, Success, safe


@safe
def port(text: str) -> int:
    if not text:
        raise ValueError(text)
    return int(text)


@safe(exceptions=(OSError,))
def read(path: str) -> str:
    return open(path).read()


@impure_safe
def size(path: str) -> int:
    return len(path)


@future_safe
async def fetch(path: str) -> str:
    return path


def age(text: str) -> Result[int, str]:
    return Success(int(text)) if text.isdecimal() else Failure(text)


def year(text: str) -> ResultE[int]:
    return Success(1)


def guess(text):
    return age(text)


def first(names: list[str]) -> Maybe[str]:
    return Maybe.from_optional(names[0] if names else None)


def stored(path: str) -> IOResult[str, OSError]:
    return IOResult.from_value(path)


def plain(text: str) -> int:
    return port(text).value_or(0)
"""


def test_each_kind_of_container_is_counted_separately() -> None:
    counts = report_of(RETURNS).counts
    assert (counts.functions, counts.safe, counts.results, counts.containers, counts.raising) == (
        10,
        4,
        3,
        2,
        0,
    )
    assert report_of(RETURNS).percent == 0


def test_step_of_a_container_describes_its_channel() -> None:
    steps = {step.name: (step.kind, step.why) for step in report_of(RETURNS).steps}
    assert steps['port'] == (
        'safe',
        'converts exceptions with a decorator; its channel is `Exception`.',
    )
    assert steps['read'] == (
        'safe',
        'converts exceptions with a decorator; its channel is `OSError`.',
    )
    assert steps['age'] == (
        'result',
        'has the channel `str`, which is not limited to specific tagged errors.',
    )
    assert steps['first'] == ('container', 'returns `Maybe`, which names no error.')
    assert 'plain' not in steps


def test_function_with_more_callers_comes_later() -> None:
    order = [step.name for step in report_of(RETURNS).steps]
    assert order[-2:] == ['port', 'age']
    assert order[0] == 'read'


CHANNELS = """
from collections.abc import Sequence
from typing import TypeVar

from seamwise import (
    Category, Do, Failure, Result, Success, TaggedError, accumulate, attempt, fallible, when,
)

T = TypeVar('T')
E = TypeVar('E')


class NoNumber(TaggedError, category=Category.VALIDATION, message='{text} is no number.'):
    text: str


def number(text: str) -> Result[int, NoNumber]:
    return Success(int(text)) if text.isdecimal() else Failure(NoNumber(text))


def numbers(
    texts: Sequence[str],
) -> Result[tuple[int, ...], tuple[NoNumber, *tuple[NoNumber, ...]]]:
    return accumulate([number(one) for one in texts])


def first(results: Sequence[Result[T, E]]) -> Result[T, E]:
    return results[0]


def certain() -> Success[int]:
    return Success(1)


@fallible
def twice(do: Do[NoNumber], text: str) -> int:
    return do(number(text)) * 2


@attempt(when(ValueError).becomes(lambda raised: NoNumber(str(raised))))
def parsed(text: str) -> int:
    if not text:
        raise ValueError('empty')
    return int(text)


async def later(text: str) -> Result[int, NoNumber]:
    return number(text)


def wide(text: str) -> Result[int, TaggedError]:
    return number(text)


def mixed(text: str) -> Result[int, NoNumber | ValueError]:
    return number(text)
"""


def test_channel_contains_only_tagged_errors() -> None:
    report = report_of(CHANNELS)
    assert (report.counts.channels, report.counts.results, report.percent) == (7, 2, 77)
    assert [(step.kind, step.name) for step in report.steps] == [
        ('result', 'wide'),
        ('result', 'mixed'),
    ]


def test_uncaught_exception_comes_after_caught_one() -> None:
    source = SHOP + 'def check(number: int) -> None:\n    raise ValueError(number)\n'
    assert [(step.name, step.touches) for step in report_of(source).steps] == [
        ('NoOrder', 3),
        ('check', 1),
    ]


def test_broad_handler_is_the_last_step() -> None:
    source = SHOP.replace('except ShopError', 'except Exception')
    report = report_of(source)
    assert report.counts.swallowing == 1
    last = report.steps[-1]
    assert (last.kind, last.line, last.name) == ('handler', 27, 'except Exception')


def test_test_files_are_not_counted() -> None:
    assert (
        report_of('', test_shop='def test_x() -> None:\n    raise ValueError').counts.functions == 0
    )


def test_overloads_count_as_one_function() -> None:
    source = """
    from typing import overload
    @overload
    def half(value: int) -> float: ...
    @overload
    def half(value: str) -> str: ...
    def half(value: int | str) -> float | str:
        raise TypeError
    """
    assert report_of(source).counts.functions == 1


def test_getter_and_setter_of_one_name_are_two_functions() -> None:
    source = """
    class Box:
        @property
        def size(self) -> int:
            return 1
        @size.setter
        def size(self, value: int) -> None:
            raise ValueError(value)
    """
    assert report_of(source).counts.functions == 2
    assert [step.line for step in report_of(source).steps] == [7]


def test_unreadable_file_is_a_problem_and_the_others_are_counted(folder: Path) -> None:
    (folder / 'broken.py').write_text('def (', encoding='utf-8')
    (folder / 'shop.py').write_text(SHOP, encoding='utf-8')
    report = adoption_report(['.'])
    assert (report.counts.functions, report.is_complete, len(report.problems)) == (3, False, 1)


def test_text_contains_counts_and_steps() -> None:
    assert render_adoption_text(report_of(SHOP)).splitlines() == [
        '0 % of the fallible functions declare tagged errors (0 of 2).',
        '',
        '     3  functions',
        '     0  return a Result with a channel of tagged errors',
        '     0  use `@safe` or a similar decorator',
        '     0  return another Result, such as one of exceptions or texts',
        '     0  return another container of `returns`',
        '     2  raise or propagate an exception that this code raises',
        '     0  handlers that swallow defects',
        '',
        'Next steps, the easiest first:',
        '',
        'shop.py:9: `NoOrder` is raised by `Store.find` and caught in `main` (shop.py:27).',
        '    Make it a TaggedError, and return it in a Failure from `Store.find`.',
    ]


def test_code_base_without_fallible_functions_has_no_share() -> None:
    text = render_adoption_text(report_of('def one() -> int:\n    return 1'))
    assert text.startswith(
        'No function raises an exception of its own or returns a Result (1 function checked).\n'
    )
    assert 'Next steps' not in text


def test_text_contains_ten_steps_and_json_all() -> None:
    report = report_of(
        '\n'.join(f'def f{number}() -> None:\n    raise ValueError' for number in range(12))
    )
    assert render_adoption_text(report).endswith('\n\n… and 2 more; use --json to list all.')
    shape = json.loads(render_adoption_json(report))
    assert len(shape['steps']) == 12
    assert (shape['percent'], shape['fallible'], shape['counts']['raising'], shape['files']) == (
        0,
        12,
        12,
        1,
    )
    assert shape['steps'][0] == {
        'kind': 'raise',
        'path': 'shop.py',
        'line': 1,
        'name': 'f0',
        'touches': 1,
        'why': 'raises ValueError, which is never caught.',
        'how': (
            'Return a Failure of a TaggedError if it is expected; for a bug, raise AssertionError.'
        ),
        'is_handled': False,
    }


def test_long_list_of_names_is_shortened() -> None:
    source = 'class Bad(Exception): ...\n' + '\n'.join(
        f'def f{number}() -> None:\n    raise Bad' for number in range(5)
    )
    [step] = steps_of(source, 'error')
    assert step.why == 'is raised by `f0`, `f1`, `f2` and 2 more and never caught.'


BRIDGE = """
from seamwise import Category, Failure, Raised, Result, Success, TaggedError, caught, or_raise


class NoNumber(TaggedError, category=Category.VALIDATION, message='{text} is no number.'):
    text: str


def number(text: str) -> Result[int, NoNumber]:
    return Success(int(text)) if text.isdecimal() else Failure(NoNumber(text))


def total(texts: list[str]) -> int:
    return sum(or_raise(number(one)) for one in texts)


def main(texts: list[str]) -> str:
    try:
        return str(total(texts))
    except Raised as raised:
        return str(raised.error)


def twice(text: str) -> Result[int, NoNumber]:
    def run() -> int:
        return or_raise(number(text)) * 2

    return caught(run, NoNumber)
"""


HANDLED_BRIDGE = BRIDGE.replace(
    'return str(raised.error)',
    """match raised.error:
            case NoNumber() as error:
                return str(error)
            case _:
                raise""",
)


def test_arm_for_the_error_of_a_raised_exception_catches_it() -> None:
    [step] = report_of(HANDLED_BRIDGE).steps
    assert step.why == 'raises Raised, which is caught in `main` (shop.py:20).'
    other = """class Other(TaggedError, category=Category.VALIDATION, message='other'):
    pass


def main("""
    source = HANDLED_BRIDGE.replace('def main(', other).replace('case NoNumber()', 'case Other()')
    *_, step = report_of(source).steps
    assert step.why == 'raises Raised, which is never caught.'


def test_call_of_or_raise_is_a_bridge_step() -> None:
    report = report_of(BRIDGE)
    assert (report.counts.channels, report.counts.raising) == (2, 1)
    [step] = report.steps
    assert (step.kind, step.name, step.why) == (
        'bridge',
        'total',
        'raises Raised, which is caught in `main` (shop.py:20).',
    )
    assert step.how.endswith('`@fallible`, and `do` instead of `or_raise`.')
