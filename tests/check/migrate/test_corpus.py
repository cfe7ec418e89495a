"""Corpus of small functions: each body with each set of clauses and each end, before and after."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from textwrap import dedent, indent

import pytest

from seamwise.check.migrate.migration import Selection, plan_migration
from seamwise.check.migrate.writing import write_all
from tests.check.migrate.migrating import migrate, run, write_package

# The test runs mypy on some hundred functions.
pytestmark = pytest.mark.slow

HEAD = """\
import asyncio
from contextlib import contextmanager
from collections.abc import Iterator


class Base(Exception):
    pass


class Red(Base):
    pass


class Blue(Base):
    def __init__(self, depth: int, name: str = 'sky') -> None:
        super().__init__(f'{name} {depth:03}')
        self.depth = depth


class Other(Exception):
    pass


@contextmanager
def traced() -> Iterator[None]:
    print('enter')
    try:
        yield
    finally:
        print('exit')


def raised(n: int) -> int:
    print('call', n)
    if n == 1:
        raise Red('red')
    if n == 2:
        raise Blue(n)
    if n == 3:
        raise Other(f'other {n}')
    return n


async def awaited(n: int) -> int:
    await asyncio.sleep(0)
    return raised(n)


class Grouped(Exception):
    pass


"""
BODIES = {
    'call': 'n = raised(n)',
    'return': 'return raised(n) + 1',
    'two': 'n = raised(n) + raised(n - 1)',
    'tuple': 'pair = raised(n), 6 // n\nprint(pair)',
    'loop': (
        'for n in range(n, 4):\n    if n == 2:\n        continue\n    print(raised(n))\n'
        'else:\n    print("through")'
    ),
    'nested': (
        'try:\n    n = raised(n)\nexcept Red:\n    n = raised(n + 1)\nfinally:\n    print("inner")'
    ),
    'with': 'with traced():\n    print(raised(n))  # inside',
    'raise': 'if n:\n    raise Blue(n, name="sea")',
    'comprehension': 'n = sum([raised(m) for m in range(n)])',
}
CLAUSES = {
    'one': 'except Red:\n    n = 10',
    'named': 'except Blue as error:\n    print(str(error), error.depth)',
    'tuple': 'except (Red, Other) as error:\n    print(type(error).__name__, error)',
    'base': 'except Red:\n    return 5\nexcept Base as error:\n    print(error)',
    'broad': 'except Exception as error:\n    print(type(error).__name__, error)',
    'again': 'except Red:\n    print("again")\n    raise',
    'by name': 'except Base as error:\n    print(error)\n    raise error',
    'chained': 'except Blue as error:\n    raise Other("from") from error',
    'foreign': 'except ZeroDivisionError:\n    n = 7\nexcept Other:\n    n = 8',
}
ENDS = {
    'plain': '',
    'else and finally': 'else:\n    print("else", n)\nfinally:\n    print("finally", n)',
}
LOOP_CLAUSES = {
    'continue': 'except Red:\n    continue',
    'break': 'except Base as error:\n    print(error)\n    break',
    'shadowed': (
        'except Blue as error:\n    value, exception = error.depth, str(error)\n'
        '    print(value, exception)\n    continue'
    ),
}
ASYNC_BODIES = {
    'await': 'n = await awaited(n)',
    'two': 'n = await awaited(n) + await awaited(n - 1)',
    'return': 'return await awaited(n)',
}
GROUPS = {
    'raised': 'except* Grouped as group:\n    print(len(group.exceptions))',
    'split': 'except* (Grouped, ValueError):\n    print("some")\nexcept* Exception:\n    n = 9',
    'finally': 'except* Grouped:\n    n = 3\nfinally:\n    print("finally", n)',
}


def other_functions() -> Iterator[tuple[str, str]]:
    """Yield expression and source of each function with a loop, a coroutine or a group."""
    loops = product([*BODIES.values()], LOOP_CLAUSES.values())
    coroutines = product(ASYNC_BODIES.values(), [*CLAUSES.values()][:6])
    for number, (body, clauses) in enumerate(loops):
        lines = f'try:\n{indent(body, "    ")}\n{clauses}\nfinally:\n    print("end")\n'
        text = (
            f'def loop{number}(n: int) -> int:\n    # loop {number}\n'
            f'    for m in range(3):\n        print(m)\n{indent(lines, "        ")}'
            '        n += 1\n    return n\n\n\n'
        )
        yield f'loop{number}(n)', text
    for number, (body, clauses) in enumerate(coroutines):
        lines = f'try:\n{indent(body, "    ")}\n{clauses}\n'
        head = f'async def later{number}(n: int) -> int:\n    # coroutine {number}\n'
        yield (
            f'asyncio.run(later{number}(n))',
            f'{head}{indent(lines, "    ")}    return n\n\n\n',
        )
    for number, clauses in enumerate(GROUPS.values()):
        body = 'if n:\n    raise ExceptionGroup("group", [Grouped(str(n)), ValueError(n)])'
        lines = f'try:\n{indent(body, "    ")}\n{clauses}\n'
        yield (
            f'group{number}(n)',
            f'def group{number}(n: int) -> int:\n{indent(lines, "    ")}    return n\n\n\n',
        )


def functions() -> Iterator[tuple[str, str]]:
    """Yield name and source of each function."""
    forms = product(BODIES.values(), CLAUSES.values(), ENDS.values())
    for number, (body, clauses, end) in enumerate(forms):
        lines = f'try:\n{indent(body, "    ")}\n{clauses}\n{end}\n'
        head = f'def f{number}(n: int) -> int:\n    # case {number}\n'
        yield f'f{number}', f'{head}{indent(lines, "    ")}    return n\n\n\n'


def source() -> str:
    """Return a program that calls each function with each input, and prints what happens."""
    cases = [(f'{name}(n)', text) for name, text in functions()] + list(other_functions())
    calls = f"""
    for number, function in enumerate([{', '.join(f'lambda n: {call}' for call, _ in cases)}]):
        for n in range(5):
            try:
                print(number, n, function(n))
            except Blue as error:
                print('Blue', error, error.depth)
            except (Base, Other) as error:
                print(type(error).__name__, error)
            except ExceptionGroup as group:
                print(type(group).__name__, len(group.exceptions))
            except Exception as error:
                print(type(error).__name__, error)
    """
    return HEAD + ''.join(text for _, text in cases) + dedent(calls).lstrip()


def test_each_case_has_the_same_effects_and_is_converted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'corpus'
    write_package(folder, {'cases': source()})
    count = len(list(functions()))
    assert count >= 150
    before = run(folder, 'cases')
    assert before[0] == 0
    migration = migrate(folder)
    assert run(folder, 'cases') == before
    new = (folder / 'cases.py').read_text()
    assert all(f'# case {number}\n' in new for number in range(count))
    assert '# inside' in new
    assert len(migration.functions) >= count // 2
    names = {item.name for item in migration.not_migrated}
    assert 'Grouped' in names
    assert not [name for name in names if name.startswith(('f', 'loop'))]
    assert len(list(other_functions())) >= 45
    assert 'or_raise(await awaited(n))' in new
    assert not migrate(folder).contents


def test_each_case_has_the_same_effects_beside_kept_exceptions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'corpus'
    write_package(folder, {'cases': source()})
    before = run(folder, 'cases')
    selection = Selection(keep=frozenset({'public'}))
    migration = plan_migration(['corpus'], selection=selection).unwrap()
    write_all(migration.contents).unwrap()
    assert run(folder, 'cases') == before
    assert len(migration.functions) >= 150
    assert not plan_migration(['corpus'], selection=selection).unwrap().contents
