"""# SW102: exception raised in a function that returns a Result

Return expected errors in the channel instead of raising them. An exception appears in no type: no
caller handles it, no seam shows it, and it ends as a defect.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class OutOfRange(TaggedError, category=Category.VALIDATION, message='{percent} is no percentage.'):
    percent: int
```

Reported:

```python
def discount(percent: int) -> Result[int, OutOfRange]:
    if percent < 0:
        return Failure(OutOfRange(percent))
    if percent > 100:
        raise ValueError(f'{percent} is no percentage')
    return Success(100 - percent)
```

Fixed:

```python
def reduction(percent: int) -> Result[int, OutOfRange]:
    if percent < 0 or percent > 100:
        return Failure(OutOfRange(percent))
    return Success(100 - percent)
```

| Exception | Reported |
| --- | --- |
| An expected exception such as `ValueError` | yes |
| An expected exception of a helper in the checked files, at the call of the helper | yes |
| `ValueError` of a helper in the same file, one call deep | yes |
| `ValueError` of a helper in another file that parses a text: `parse_port(text: str)` | yes |
| Other ones of a helper, such as `ValueError` of `__init__`, which report a wrong call | no |
| `RuntimeError` or `TypeError` of a helper, which report a wrong call as a rule | no |
| An exception of a helper that any direct or indirect caller names in a handler | no |
| An exception of `__init__`, `__post_init__`, a property, or a method called by `super()` | yes |
| One of a generator, if its values are read at once: `for …`, `list(…)`, `[… for …]` | yes |
| One of a function that `sorted`, `map`, `reduce`, `to_thread` or the like calls | yes |
| One of a function that is passed to another one, or of a generator in a variable | no |
| An exception that is caught in the same function, or suppressed | no |
| A caught exception, if the handler raises only others again, by `isinstance` or `match` | no |
| An exception in a `with` statement whose context manager swallows it | no |
| `StopIteration` of `__next__`, and what other special methods answer with | no |
| `AssertionError`, `NotImplementedError`, which report a bug | no |
| A caught exception that is raised again, also if it was stored as an `Exception` | no |
| The exception that `or_raise` raises | no |
| One of a function whose callers all `raise error.exception()`, or are such functions | no |
| `SystemExit` and others that end the process, such as `typer.Exit` and `click.Abort` | no |
| An exception that an enclosing `@attempt` or `@safe(exceptions=…)` converts | no |

A context manager swallows exceptions if its class is not in the standard library and its `__exit__`
is typed as `bool`. A function with `@contextmanager` in the same file swallows those that it
catches around its `yield`.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from seamwise.check.facts import ExceptionFlow, FileFacts, HelperCall, HelperCondition, RuleHit
from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.exception_flow.escaping import (
    converted_exceptions,
    escaping_classes,
    raises_again,
    reraised_functions,
    returns_result,
)
from seamwise.check.inference.exception_flow.running import CONSTRUCTORS
from seamwise.check.rules.rule import Rule, short_name
from seamwise.check.typed_ast.program import Module

_BASE_EXCEPTION = 'builtins.BaseException'
_HELP = (
    'Return a Failure with an error of the channel, or call `do.fail(…)`;'
    ' for a bug, raise AssertionError.'
)
_TYPE_ERROR = 'builtins.TypeError'
_WRONG_CALLS = frozenset({_TYPE_ERROR, 'builtins.RuntimeError'})
"""Exceptions that report a wrong call as a rule. Those of helpers are not followed."""
_VALUE_ERROR = 'builtins.ValueError'
"""Reports a wrong call in many functions. It is followed one call far in the same file, and from
functions that parse a text.
"""
_BROAD = frozenset({'builtins.Exception', _BASE_EXCEPTION})
_CALL_HELP = 'Convert it with `attempt(…, when(…).becomes(…))`, or let the helper return a Result.'


def _find_raised_exceptions(module: Module) -> Iterator[RawFinding]:
    for node in module.nodes_of_type(ast.Raise):
        function = module.enclosing_function(node)
        if node.exc is None or function is None:
            continue
        classes = escaping_classes(node.exc, node, function, module)
        if not classes or raises_again(node, module) or not returns_result(function, module):
            continue
        converted = converted_exceptions(function, module)
        if converted is None or all(converted & {*class_.bases} for class_ in classes):
            continue
        names = ' or '.join(sorted({class_.short_name for class_ in classes}))
        message = f'`{function.name}` returns a Result, but raises {names}.'
        name = inference_of(module).function_name(function)
        yield RawFinding(node, message, _HELP, unless=HelperCondition(result=name))


def _find_exceptions_of_helpers(
    files: Sequence[FileFacts],
) -> Iterator[tuple[FileFacts, RuleHit]]:
    reraised = reraised_functions(flow for file in files for flow in file.exception_flows)
    for file, function, call, exceptions in raising_calls(files):
        if function in reraised:
            continue
        names = ' or '.join(sorted(map(short_name, exceptions)))
        message = (
            f'`{short_name(function)}` returns a Result, but raises {names} through `{call.call}`.'
        )
        yield file, RuleHit('SW102', call.location, message, _CALL_HELP)


class RaisingCall(NamedTuple):
    """Call in a function that returns a Result, and the exceptions that it passes on."""

    file: FileFacts
    function: str
    """Full name of the function."""
    call: HelperCall
    exceptions: Sequence[str]


def raising_calls(files: Sequence[FileFacts]) -> Iterator[RaisingCall]:
    """Yield the calls of helpers whose exceptions leave a function that returns a Result."""
    flows = {flow.function: flow for file in files for flow in file.exception_flows}
    callers = _callers(flows.values())
    escaping = _escaping_exceptions(flows, callers)
    of_parsers = _value_errors(flow for flow in flows.values() if flow.parses_text)
    for file in files:
        value_errors = {**of_parsers, **_value_errors(file.exception_flows)}
        for flow in file.exception_flows:
            for call in flow.calls if flow.is_result else ():
                exceptions = [
                    name
                    for name, bases in {
                        **_through(call, escaping),
                        **_through(call, value_errors),
                    }.items()
                    if not _is_handled_above(flow.function, {*bases}, flows, callers)
                ]
                if exceptions:
                    yield RaisingCall(file, flow.function, call, exceptions)


_Escaping = dict[str, dict[str, tuple[str, ...]]]
"""Exceptions by function, each with its base classes."""


def _value_errors(flows: Iterable[ExceptionFlow]) -> _Escaping:
    """Return the ValueErrors of functions; those of constructors report a wrong call."""
    return {
        flow.function: {item.name: item.bases for item in flow.raised if item.name == _VALUE_ERROR}
        for flow in flows
        if short_name(flow.function) not in CONSTRUCTORS
    }


_Callers = Mapping[str, Sequence[str]]


def _callers(flows: Iterable[ExceptionFlow]) -> _Callers:
    """Return the callers of each function."""
    callers: dict[str, list[str]] = {}
    for flow in flows:
        for callee in dict.fromkeys(call.callee for call in flow.calls):
            callers.setdefault(callee, []).append(flow.function)
    return callers


def _escaping_exceptions(flows: Mapping[str, ExceptionFlow], callers: _Callers) -> _Escaping:
    """Return the exceptions that leave each helper, also those of the helpers that it calls."""
    escaping: _Escaping = {
        flow.function: {
            item.name: item.bases
            for item in flow.raised
            if item.name not in _WRONG_CALLS | {_VALUE_ERROR} and _TYPE_ERROR not in item.bases
        }
        for flow in flows.values()
        if not flow.is_result
    }
    queue = [name for name, exceptions in escaping.items() if exceptions]
    while queue:
        for caller in callers.get(queue.pop(), ()):
            if caller not in escaping:
                continue
            exceptions = escaping[caller]
            count = len(exceptions)
            for call in flows[caller].calls:
                exceptions |= _through(call, escaping)
            if len(exceptions) > count:
                queue.append(caller)
    return escaping


def _through(call: HelperCall, escaping: _Escaping) -> dict[str, tuple[str, ...]]:
    """Return the exceptions of a helper that no handler around its call stops."""
    return {
        name: bases
        for name, bases in escaping.get(call.callee, {}).items()
        if _BASE_EXCEPTION not in call.caught and set(call.caught).isdisjoint(bases)
    }


def _is_handled_above(
    function: str, bases: AbstractSet[str], flows: Mapping[str, ExceptionFlow], callers: _Callers
) -> bool:
    """Return whether a direct or indirect caller names the exception in a handler."""
    visited = {function}
    queue = [function]
    while queue:
        callee = queue.pop()
        for caller in callers.get(callee, ()):
            caught = {
                name
                for call in flows[caller].calls
                if call.callee == callee
                for name in call.caught
            }
            if not bases.isdisjoint(caught - _BROAD):
                return True
            if caller not in visited:
                visited.add(caller)
                queue.append(caller)
    return False


RULE = Rule(
    'SW102',
    'exception raised in a function that returns a Result',
    'error',
    __doc__ or '',
    _find_raised_exceptions,
    _find_exceptions_of_helpers,
)
