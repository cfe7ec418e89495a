"""Tests of the names on the pages: each exists, and each public name has a docstring."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
from tools.documentation.attributes import documentation_of, find_attribute
from tools.documentation.public_names import MODULES, public_names

ROOT = Path(__file__).parents[2]
MODULE_NAMES = [module for modules in MODULES.values() for module in modules]
SOURCES = '\n'.join(path.read_text(encoding='utf-8') for path in ROOT.glob('src/**/*.py'))
NAME = re.compile(r'`(seamwise(?:\.\w+)+)')
IMPORT = re.compile(r'^from (seamwise[\w.]*) import ', re.MULTILINE)


def resolves(name: str) -> bool:
    """Return whether a dotted name is a module, or an attribute of one."""
    parts = name.split('.')
    for end in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module('.'.join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


@pytest.mark.parametrize(
    'page', [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob('docs/**/*.md'))]
)
def test_pages_mention_only_names_that_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding='utf-8')
    names = sorted(set(NAME.findall(text)))
    # Names of metrics, loggers and protocols are texts in the code.
    assert [name for name in names if not resolves(name) and f"'{name}'" not in SOURCES] == []


@pytest.mark.parametrize('module', MODULE_NAMES)
def test_public_names_exist_and_have_docstrings(module: str) -> None:
    imported = importlib.import_module(module)
    assert imported.__doc__
    names = public_names(module)
    assert names
    functions_and_classes = [
        value
        for name in names
        if inspect.isclass(value := getattr(imported, name)) or inspect.isroutine(value)
    ]
    assert [value for value in functions_and_classes if not inspect.getdoc(value)] == []


@pytest.mark.parametrize('module', MODULE_NAMES)
def test_constants_and_type_aliases_have_a_description(module: str) -> None:
    imported = importlib.import_module(module)
    values = {name: getattr(imported, name) for name in public_names(module)}
    attributes = {
        name: value
        for name, value in values.items()
        if not inspect.isclass(value) and not inspect.isroutine(value)
    }
    assert [
        name
        for name, value in attributes.items()
        if not documentation_of(find_attribute(module, name), value)
    ] == []


def test_modules_that_pages_import_are_in_the_reference() -> None:
    documented = {*MODULE_NAMES, 'seamwise'}
    imported = {
        match[1]
        for path in ROOT.glob('docs/**/*.md')
        for match in IMPORT.finditer(path.read_text(encoding='utf-8'))
    }
    errors = {name for name in imported if name.startswith('seamwise.catalog')}
    tables = {name for name in imported if name.endswith('.tables')}
    assert imported - documented - errors - tables - {'seamwise.seams'} == set()
