"""Tests of deprecated names."""

import sys
from types import ModuleType

import pytest

from seamwise import Success
from seamwise._text.deprecation import Deprecation, find_deprecated

OLD = {'Ok': Deprecation('seamwise.Success', since='1.1', removed_in='2.0')}
MESSAGE = 'shop.Ok is deprecated since 1.1 and will be removed in 2.0: use seamwise.Success.'


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a module with a deprecated name."""
    module = ModuleType('shop')

    def find(name: str) -> object:
        return find_deprecated('shop', name, OLD)

    vars(module)['__getattr__'] = find
    monkeypatch.setitem(sys.modules, 'shop', module)
    return module


def test_a_deprecated_name_is_the_new_object_and_warns_in_the_line_that_uses_it(
    shop: ModuleType,
) -> None:
    with pytest.warns(DeprecationWarning, match='shop.Ok') as warnings:
        value = shop.Ok
    assert value is Success
    [warning] = warnings
    assert (str(warning.message), warning.filename) == (MESSAGE, __file__)


def test_an_import_of_a_deprecated_name_warns(shop: ModuleType) -> None:
    with pytest.warns(DeprecationWarning, match='use seamwise.Success'):
        exec('from shop import Ok', {})  # noqa: S102 -- type checkers do not know the module


def test_an_unknown_name_is_an_attribute_error(shop: ModuleType) -> None:
    with pytest.raises(AttributeError, match="module 'shop' has no attribute 'Nothing'"):
        _ = shop.Nothing
