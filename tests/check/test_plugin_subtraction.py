"""The law of `catch` under the plugin: what is taken is gone, what is not stays, and nothing else comes in."""

import re
import subprocess
import sys
from itertools import count
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

KINDS = [f'E{number}' for number in range(8)]
PLACES = ['taken', 'left', 'absent']

MOST_AT_ONCE = 6
"""So many kinds `catch` takes in one tuple; more go in a chain."""

HEADER = """
from typing import Generic, Never, TypeVar, assert_type
from seamwise import Category, Failure, Result, Success, TaggedError, catch
V = TypeVar('V')
class E0(TaggedError, Generic[V], category=Category.CONFLICT):
    value: V
""" + '\n'.join(f'class {kind}(TaggedError, category=Category.CONFLICT): ...' for kind in KINDS[1:])


class Case(NamedTuple):
    """The errors of a channel, each in a Failure of its own or all in one, and the groups that are taken out."""

    channel: list[str]
    stand_apart: bool
    groups: list[list[str]]
    in_one_line: bool


@st.composite
def cases(draw: st.DrawFn) -> Case:
    places = dict(
        zip(
            draw(st.permutations(KINDS)),
            draw(st.lists(st.sampled_from(PLACES), min_size=8, max_size=8)),
            strict=True,
        )
    )
    taken = [kind for kind, place in places.items() if place == 'taken'] or ['E0']
    channel = [kind for kind in KINDS if kind in taken or places[kind] == 'left']
    size = draw(st.integers(1, MOST_AT_ONCE))
    groups = [taken[start : start + size] for start in range(0, len(taken), size)]
    # Every step of a chain in one line lets mypy look at what is inside a few times more.
    return Case(channel, draw(st.booleans()), groups, draw(st.booleans()) and len(groups) <= 3)


def written(number: int, case: Case) -> str:
    def names(kinds: list[str]) -> list[str]:
        return [f'{kind}[int]' if kind == 'E0' else kind for kind in kinds]

    channel = (
        [f'Failure[{kind}]' for kind in names(case.channel)]
        if case.stand_apart
        else [f'Failure[{" | ".join(names(case.channel))}]']
    )
    lines = [f'def case{number}(result: {" | ".join(["Success[int]", *channel])}) -> None:']
    inner = 'result'
    for place, group in enumerate(case.groups):
        kinds = group[0] if len(group) == 1 and place % 2 else f'({", ".join(group)},)'
        call = f'catch({kinds}, lambda error: Success(str(error)))({inner})'
        inner = call
        if not case.in_one_line:
            lines.append(f'    step{place} = {call}')
            inner = f'step{place}'
    lines.append(f'    last = {inner}')
    rest = [kind for kind in case.channel if not any(kind in group for group in case.groups)]
    lines.append('    assert_type(last.unwrap(), int | str)')
    lines.append(f'    assert_type(last.failure(), {" | ".join(names(rest)) or "Never"})')
    return '\n'.join(lines)


@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)
@given(some=st.lists(cases(), min_size=20, max_size=20))
def test_catch_of_any_of_up_to_eight_errors_leaves_exactly_the_rest(
    some: list[Case], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / 'mypy.ini').write_text('[mypy]\nstrict = True\nplugins = seamwise.check.plugin\n')
    module = folder / 'channels.py'
    module.write_text('\n'.join([HEADER, *map(written, count(), some), 'reveal_type(1)', '']))
    checked = subprocess.run(
        [sys.executable, '-m', 'mypy', '--config-file', 'mypy.ini', module.name],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    # The revealed type shows that mypy came to the end.
    assert re.findall('error: .*', checked.stdout) == []
    assert 'Revealed type is "Literal[1]?"' in checked.stdout
