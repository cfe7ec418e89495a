"""The docstrings of the stub file, which editors show: each has an example that runs."""

import ast
import doctest
from collections.abc import Iterator
from pathlib import Path

from seamwise import Failure, Success
from seamwise._results import containers

STUB = Path(containers.__file__).with_suffix('.pyi')


def methods() -> Iterator[tuple[str, str]]:
    """Yield the name and the docstring of each method."""
    for class_ in ast.parse(STUB.read_text(encoding='utf-8')).body:
        if isinstance(class_, ast.ClassDef):
            for method in class_.body:
                if isinstance(method, ast.FunctionDef) and method.name != '__init__':
                    yield f'{class_.name}.{method.name}', ast.get_docstring(method) or ''


def test_both_classes_have_docstrings() -> None:
    names = [name for name, _ in methods()]
    assert names[0] == 'Success.bind'
    assert names[-1] == 'Failure.swap'
    assert [name for name, docstring in methods() if '>>>' not in docstring] == []


def test_the_examples_run() -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    parser = doctest.DocTestParser()
    for name, docstring in methods():
        names = {'Success': Success, 'Failure': Failure}
        runner.run(parser.get_doctest(docstring, names, name, str(STUB), lineno=0))
    assert runner.failures == 0
    assert runner.tries == 16
