"""Run a program of the playground, and render its last failure at each seam.

The page loads this module into Pyodide. It runs on other platforms too, where tests use it.
"""

import ast
import linecache
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from types import CodeType, ModuleType
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType
from typing_extensions import TypeIs, override

from seamwise import Failure, Success, TaggedError, message_of
from seamwise._runtime.samples import NOW
from seamwise._text.jsonable import to_json
from seamwise.documents.answers import iter_answers
from seamwise.documents.error_catalog import ErrorCatalog
from seamwise.documents.tables import SEAMS, Arm, Table, read_tables
from seamwise.seams import session
from seamwise.seams.adapter import Adapter
from seamwise.seams.reporting.fingerprint import error_type

FILE = 'program.py'
"""Name of the program in tracebacks."""

LOCALES = ('en', 'zh_CN')
"""Languages of the page."""

JAVASCRIPT = frozenset({'js', 'pyodide', 'pyodide_js', '_pyodide', '_pyodide_core'})
"""Modules through which a program would reach the browser."""


class Drawing(Struct, frozen=True, kw_only=True):
    """A result as the page of `seamwise serve` draws it.

    Attributes:
        success: Whether the result is a success.
        tool: Name of the program.
        error_type: Tag of the error, or the class of another value.
        message: Message of the error.
        category: Category of the error.
        retryable: Whether the same call can succeed later.
        seams: Output of each seam, as JSON.
        notes: Key of a text for each seam without an output.
    """

    success: bool
    tool: str = FILE
    error_type: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    category: str | UnsetType = UNSET
    retryable: bool | UnsetType = UNSET
    seams: Mapping[str, object]
    notes: Mapping[str, str]


def run(source: str) -> str:
    """Run a program, and return the drawing of its last expression as JSON, or `null`.

    The program prints to the standard streams. An exception is printed as a traceback.
    """
    module = ModuleType('__main__')
    sys.modules['__main__'] = module
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    try:
        value = _run_in(module, source)
    except SystemExit as exit_:
        sys.stderr.write(f'SystemExit: {exit_}\n')
    except BaseException as error:  # noqa: BLE001 -- any exception of a program is its output
        _print_traceback(error)
    else:
        if value is not None:
            sys.stdout.write(f'{value!r}\n')
        drawing = draw(value, vars(module))
        return 'null' if drawing is None else to_json(drawing).decode()
    return 'null'


def _run_in(module: ModuleType, source: str) -> object:
    """Execute a program, and return the value of its last expression."""
    tree = ast.parse(source, FILE)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    _execute(compile(tree, FILE, 'exec', dont_inherit=True), vars(module))
    if not isinstance(last, ast.Expr):
        return None
    expression = ast.Expression(last.value)
    return _evaluate(compile(expression, FILE, 'eval', dont_inherit=True), vars(module))


def _execute(code: CodeType, namespace: dict[str, Any]) -> None:
    exec(code, namespace)  # noqa: S102 -- the reader pressed Run


def _evaluate(code: CodeType, namespace: dict[str, Any]) -> object:
    return eval(code, namespace)  # noqa: S307 -- the reader pressed Run


def _print_traceback(error: BaseException) -> None:
    """Print a traceback without the frames of this module."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(error.with_traceback(trace))


def draw(value: object, namespace: Mapping[str, object]) -> Drawing | None:
    """Return the drawing of a result, or of the first failure in a list or tuple of results.

    Args:
        value: A result or several; anything else has no drawing.
        namespace: Names of the program, among them its adapters.
    """
    result = next(_results(value), None)
    if result is None:
        return None
    if isinstance(result, Success):
        return Drawing(success=True, seams={}, notes={})
    error: object = result.failure()
    if _is_sequence(error):
        # `accumulate` returns all errors.
        error = next((item for item in error if isinstance(item, TaggedError)), error)
    if not isinstance(error, TaggedError):
        return Drawing(
            success=False,
            error_type=error_type(error),
            message=repr(error),
            seams={},
            notes=dict.fromkeys((*SEAMS, 'log', 'telemetry'), 'untagged'),
        )
    seams, notes = _outputs(error, tuple(_tables(namespace)))
    return Drawing(
        success=False,
        error_type=error.tag,
        message=message_of(error),
        category=error.category.value,
        retryable=error.retryable,
        seams=seams,
        notes=notes,
    )


def _results(value: object) -> Iterator[Success[Any] | Failure[Any]]:
    """Yield the failures of a value, then its successes."""
    values: Sequence[object] = value if _is_sequence(value) else [value]
    yield from (item for item in values if isinstance(item, Failure))
    yield from (item for item in values if isinstance(item, Success))


def _is_sequence(value: object) -> TypeIs[list[object] | tuple[object, ...]]:
    return isinstance(value, list | tuple)


def _is_adapter(value: object) -> TypeIs[Adapter[Any, Any]]:
    return isinstance(value, Adapter)


def _tables(namespace: Mapping[str, object]) -> Iterator[Table]:
    for name, value in namespace.items():
        if _is_adapter(value):
            try:
                yield from read_tables(name, value)
            except TypeError:
                # An adapter of a seam of the program's own, or one that fails for an example.
                continue


def _outputs(
    error: TaggedError, tables: tuple[Table, ...]
) -> tuple[dict[str, object], dict[str, str]]:
    """Return the output of each seam, and the reason for each that has none."""
    kind = type(error)
    arms = ErrorCatalog(title='', kinds=(kind,), unions={}, tables=tables).arms_of(kind)
    seams: dict[str, object] = {}
    notes: dict[str, str] = {}
    for answer in iter_answers(error, arms):
        if answer.seam in seams or answer.seam in notes:
            continue
        if answer.output is None:
            notes[answer.seam] = 'hiddenArm' if answer.summary is None else 'failedArm'
        elif answer.seam == 'session':
            seams['session'] = _events(error, arms)
        else:
            seams[answer.seam] = msgspec.json.decode(answer.output)
    seams['telemetry'] = {
        'seamwise.errors': {
            'error.type': error_type(error),
            'seamwise.error.category': error.category.value,
        }
    }
    for seam in SEAMS:
        if seam not in seams and seam not in notes:
            notes[seam] = 'noArm' if any(t.seam == seam for t in tables) else f'noTable_{seam}'
    return seams, notes


def _events(error: TaggedError, arms: tuple[Arm, ...]) -> dict[str, object]:
    """Return the session event in each language of the page."""
    adapter = next(arm.adapter for arm in arms if arm.seam == 'session')
    return {
        locale: [session.event(error, adapter=adapter, locale=locale, now=NOW)]
        for locale in LOCALES
    }


class _NoJavaScript(MetaPathFinder):
    """Finder that refuses the modules of the browser."""

    @override
    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname.partition('.')[0] in JAVASCRIPT:
            raise ModuleNotFoundError(
                f'{fullname} is not available in the playground', name=fullname
            )


def confine() -> None:
    """Remove the modules of the browser. The page takes the network away from the worker too."""
    for name in [*sys.modules]:
        if name.partition('.')[0] in JAVASCRIPT:
            del sys.modules[name]
    sys.meta_path.insert(0, _NoJavaScript())
