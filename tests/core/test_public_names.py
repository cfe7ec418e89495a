"""Tests of the public names of the package and their docstrings."""

import importlib.util
import inspect
import re
import sys
from unittest.mock import Mock

import pytest

import seamwise
import seamwise.messages
import seamwise.typing

# fmt: off
PUBLIC_NAMES = [
    'Category', 'Cause', 'DefectReport', 'Do', 'Failure', 'Internal', 'Raised', 'Recovery',
    'Result', 'ScopeLeaked', 'Secret', 'Success', 'TaggedError', 'accumulate',
    'accumulate_async', 'attempt', 'bind_async', 'catch', 'catch_all', 'caught', 'codec',
    'collect', 'collect_async', 'error_chain', 'fallible', 'find_cause', 'flow', 'from_returns',
    'is_failure', 'is_success', 'json_schema', 'map_async', 'message_of', 'on_defect',
    'or_raise', 'partition', 'partition_async', 'redact', 'refine', 'report_defect',
    'sanitized', 'tap', 'tap_error', 'when',
]
# fmt: on


def test_the_package_exports_exactly_these_names() -> None:
    modules = {name for name, value in vars(seamwise).items() if inspect.ismodule(value)}
    public = {name for name in vars(seamwise) if not name.startswith('_')} - modules
    assert sorted(public) == sorted(PUBLIC_NAMES)


@pytest.mark.parametrize(
    'name',
    [
        name
        for name in PUBLIC_NAMES
        if name not in {'Cause', 'Failure', 'Internal', 'Result', 'Success'}
    ],
)
def test_every_public_name_has_a_docstring(name: str) -> None:
    value = getattr(seamwise, name)
    assert value.__doc__
    assert value.__doc__.split('\n')[0].endswith(('.', ':')), 'the first line is a sentence'
    assert value.__module__.startswith('seamwise.')


@pytest.mark.parametrize('name', [name for name in PUBLIC_NAMES if name.islower()])
def test_every_public_function_has_an_example(name: str) -> None:
    assert '>>> ' in getattr(seamwise, name).__doc__


def test_the_version_is_read_from_the_distribution() -> None:
    assert seamwise.__version__.count('.') == 2
    with pytest.raises(AttributeError, match="module 'seamwise' has no attribute 'nothing'"):
        seamwise.nothing  # noqa: B018 -- the misuse is the test


@pytest.mark.parametrize('is_hypothesis_imported', [True, False])
def test_the_package_registers_its_strategies_if_hypothesis_was_imported_first(
    is_hypothesis_imported: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = seamwise.__spec__
    assert spec is not None
    assert spec.loader is not None
    plugin = Mock()
    if is_hypothesis_imported:
        monkeypatch.setitem(sys.modules, '_seamwise_hypothesisplugin', plugin)
    else:
        monkeypatch.delitem(sys.modules, '_seamwise_hypothesisplugin', raising=False)
    # A second module of the same code, so that the other tests keep the first.
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert plugin.register.call_count == is_hypothesis_imported


def test_the_other_faces_export_exactly_these_names() -> None:
    assert seamwise.messages.__all__ == [
        'add_locales', 'catalogue', 'public_message',
    ]  # fmt: skip
    assert seamwise.typing.__all__ == ['Catch', 'Rules']


@pytest.mark.parametrize(
    ('name', 'own'),
    [('safe', '`attempt(rules)`'), ('Ok', '`Success`'), ('is_ok', '`is_success`')],
)
def test_a_name_of_returns_or_result_is_explained(name: str, own: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(f"has no attribute '{name}'; use {own}")):
        getattr(seamwise, name)
    with pytest.raises(ImportError, match=re.escape(f"'{name}' from 'seamwise'; use {own}")):
        exec(f'from seamwise import {name}')  # noqa: S102 -- the statement is the test
    assert not hasattr(seamwise, name)
