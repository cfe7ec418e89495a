"""Tests of `catch` with the plugin: exactly the caught errors are removed from the channel."""

import re
import subprocess
import sys
from itertools import count
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CLASSES = [f'E{number}' for number in range(8)]
ROLES = ['caught', 'remaining', 'absent']

MAX_CLASSES_PER_CATCH = 6
"""Limit of one `catch`; more classes need a chain of steps."""

HEADER = """
from typing import Generic, Never, TypeVar, assert_type
from seamwise import Category, Failure, Result, Success, TaggedError, catch
V = TypeVar('V')
class E0(TaggedError, Generic[V], category=Category.CONFLICT):
    value: V
""" + '\n'.join(
    f'class {name}(TaggedError, category=Category.CONFLICT): ...' for name in CLASSES[1:]
)


class Case(NamedTuple):
    """Errors of a channel, and the groups that are caught."""

    channel: list[str]
    has_separate_failures: bool
    groups: list[list[str]]
    is_one_expression: bool


@st.composite
def cases(draw: st.DrawFn) -> Case:
    roles = dict(
        zip(
            draw(st.permutations(CLASSES)),
            draw(st.lists(st.sampled_from(ROLES), min_size=8, max_size=8)),
            strict=True,
        )
    )
    caught = [name for name, role in roles.items() if role == 'caught'] or ['E0']
    channel = [name for name in CLASSES if name in caught or roles[name] == 'remaining']
    size = draw(st.integers(1, MAX_CLASSES_PER_CATCH))
    groups = [caught[start : start + size] for start in range(0, len(caught), size)]
    # mypy checks the inner calls of a nested expression several times, so long chains are slow.
    return Case(channel, draw(st.booleans()), groups, draw(st.booleans()) and len(groups) <= 3)


def function_source(number: int, case: Case) -> str:
    def types(names: list[str]) -> list[str]:
        return [f'{name}[int]' if name == 'E0' else name for name in names]

    channel = (
        [f'Failure[{type_}]' for type_ in types(case.channel)]
        if case.has_separate_failures
        else [f'Failure[{" | ".join(types(case.channel))}]']
    )
    lines = [f'def case{number}(result: {" | ".join(["Success[int]", *channel])}) -> None:']
    value = 'result'
    for index, group in enumerate(case.groups):
        classes = group[0] if len(group) == 1 and index % 2 else f'({", ".join(group)},)'
        call = f'catch({classes}, lambda error: Success(str(error)))({value})'
        value = call
        if not case.is_one_expression:
            lines.append(f'    step{index} = {call}')
            value = f'step{index}'
    lines.append(f'    last = {value}')
    remaining = [name for name in case.channel if not any(name in group for group in case.groups)]
    lines.append('    assert_type(last.unwrap(), int | str)')
    lines.append(f'    assert_type(last.failure(), {" | ".join(types(remaining)) or "Never"})')
    return '\n'.join(lines)


@pytest.mark.slow
@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)
@given(batch=st.lists(cases(), min_size=20, max_size=20))
def test_catch_removes_exactly_the_caught_errors_from_the_channel(
    batch: list[Case], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / 'mypy.ini').write_text('[mypy]\nstrict = True\nplugins = seamwise.check.plugin\n')
    module = folder / 'channels.py'
    module.write_text(
        '\n'.join([HEADER, *map(function_source, count(), batch), 'reveal_type(1)', ''])
    )
    process = subprocess.run(
        [sys.executable, '-m', 'mypy', '--config-file', 'mypy.ini', module.name],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    # The revealed type shows that mypy checked the whole file.
    assert re.findall('error: .*', process.stdout) == []
    assert 'Revealed type is "Literal[1]?"' in process.stdout
