"""Tests of the names on the pages: each exists, and each public name has a docstring."""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.documentation.attributes import documentation_of, find_attribute
from tools.documentation.public_names import MODULES, public_names

ROOT = Path(__file__).parents[2]
MODULE_NAMES = [module for modules in MODULES.values() for module in modules]
SOURCES = '\n'.join(path.read_text(encoding='utf-8') for path in ROOT.glob('src/**/*.py'))
NAME = re.compile(r'`(seamwise(?:\.\w+)+)')
IMPORT = re.compile(r'^from (seamwise[\w.]*) import ', re.MULTILINE)
IMPORT_OF_EXAMPLE = re.compile(r'^ *>>> from (seamwise[\w.]*) import (.+)$', re.MULTILINE)


def is_public(module: str) -> bool:
    """Return whether programs may import from a module."""
    return module in {*MODULE_NAMES, 'seamwise.seams'} or module.startswith('seamwise.catalog.')


def docstrings_of(module: str) -> Iterator[str]:
    """Yield the docstrings of a module, of its public names and of their methods."""
    imported = importlib.import_module(module)
    yield imported.__doc__ or ''
    for name in public_names(module):
        value = getattr(imported, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            yield value.__doc__ or ''
        if inspect.isclass(value):
            for member_name, member in vars(value).items():
                if not member_name.startswith('_'):
                    yield str(getattr(member, '__doc__', None) or '')


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
    assert imported - documented - errors - {'seamwise.seams'} == set()


@pytest.mark.parametrize('module', MODULE_NAMES)
def test_examples_in_docstrings_import_from_public_modules(module: str) -> None:
    imports = [
        match[0].strip()
        for docstring in docstrings_of(module)
        for match in IMPORT_OF_EXAMPLE.finditer(docstring)
        if not is_public(match[1])
    ]
    assert imports == []


@pytest.mark.parametrize('module', MODULE_NAMES)
def test_docstrings_have_no_tables_of_markdown(module: str) -> None:
    # Sphinx reads docstrings as reStructuredText, which shows such a table as it is.
    assert [text for text in docstrings_of(module) if '| --- |' in text] == []
