"""Tests of the public names: the list of them, and one meaning for each."""

import importlib
from collections import defaultdict

import pytest
from tools.documentation.public_names import public_names
from tools.public_surface import FILE, modules, surface

MAX_NAMES = 282

VERBS = {
    'defect', 'decode', 'encode', 'observer', 'on', 'response',
}  # fmt: skip
"""Functions that each seam has under the same name, with the same meaning for its own shape."""

TWINS = {
    'seamwise.policies.transports.httpx2': 'seamwise.policies.transports',
}
"""Modules with the names of another module, for another library with the same interface."""


def test_the_list_of_public_names_is_up_to_date() -> None:
    expected = FILE.read_text(encoding='utf-8')
    assert surface() == expected, 'run `python -m tools.public_surface`, and commit its diff'


def test_there_are_not_too_many_public_names() -> None:
    assert len({name for module in modules() for name in public_names(module)}) <= MAX_NAMES


def test_a_public_name_has_one_meaning() -> None:
    meanings: defaultdict[str, set[int]] = defaultdict(set)
    for module in modules():
        # The tables of a seam have the names of their domains.
        if module not in TWINS and not module.endswith('.tables'):
            for name in public_names(module):
                meanings[name].add(id(getattr(importlib.import_module(module), name)))
    assert sorted(name for name, objects in meanings.items() if len(objects) > 1) == sorted(VERBS)


def test_a_public_name_has_one_module() -> None:
    places: defaultdict[int, set[str]] = defaultdict(set)
    for module in modules():
        if module not in TWINS and not module.endswith('.tables'):
            for name in public_names(module):
                places[id(getattr(importlib.import_module(module), name))].add(module)
    assert [sorted(places_) for places_ in places.values() if len(places_) > 1] == [
        # The failure of reading a body is the same at these seams.
        ['seamwise.seams.http', 'seamwise.seams.planner', 'seamwise.seams.session'],
    ]


@pytest.mark.parametrize('module', modules())
def test_no_public_function_hides_a_public_module(module: str) -> None:
    package, _, name = module.rpartition('.')
    assert not package or name not in public_names(package)
