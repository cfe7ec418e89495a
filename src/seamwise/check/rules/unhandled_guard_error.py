"""# SW114: unhandled error of a guard

Handle the errors that a guard adds to its operation, such as `CircuitOpen` or `DeadlineExceeded`.
Callers that handle only the errors of the operation ignore these silently, while the service is in
trouble.

```python
from typing import assert_never

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.policies import CircuitOpen, circuit


class NoSuchCity(TaggedError, category=Category.NOT_FOUND, message='There is no city {name!r}.'):
    name: str


def look_up(name: str) -> Result[str, NoSuchCity]:
    return Success('rain') if name == 'Bergen' else Failure(NoSuchCity(name))


upstream = circuit(name='weather')
```

Reported:

```python
def forecast(name: str) -> str | None:
    match upstream.run_sync(lambda: look_up(name)):
        case Success(weather):
            return weather
        case Failure(NoSuchCity()):
            return 'Where is that?'
    return None
```

Fixed:

```python
def outlook(name: str) -> str:
    match upstream.run_sync(lambda: look_up(name)):
        case Success(weather):
            return weather
        case Failure(error):
            match error:
                case NoSuchCity():
                    return 'Where is that?'
                case CircuitOpen():
                    return 'The weather service has no answer just now.'
                case _:
                    assert_never(error)
```

| Code | Counts as handled |
| --- | --- |
| An arm, a `catch`, a `lash`, a `fallback` or an adapter for the error | yes |
| `case Failure(error)` with code that uses the error | yes |
| Returning the Result | yes: the channel then declares the error |
| Falling through a `match` or a chain of `isinstance` | no |
"""

import ast
from collections.abc import Iterator, Sequence, Sized

from seamwise.check.facts import ErrorSource, FileFacts, RuleHit
from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.data_flow.dispositions import Dispositions
from seamwise.check.inference.guarded_calls.guards import is_guard, unhandled_guard_errors
from seamwise.check.rules.rule import Rule, join_class_names, join_code, short_name
from seamwise.check.typed_ast.program import Module

_HELP = 'Add an arm for it, `catch` it, or return it, so that the channel declares it.'
_HELP_PLURAL = (
    'Add an arm for each, `catch` them, or return them, so that the channel declares them.'
)


def _find_unhandled_calls(module: Module) -> Iterator[RawFinding]:
    """Yield each call of `run` after which an error of the guard is ignored."""
    inference = inference_of(module)
    for call in module.nodes_of_type(ast.Call):
        match call:
            case ast.Call(ast.Attribute(guard, 'run' | 'run_sync'), [_, *_]) if is_guard(
                guard, inference
            ) and not _is_discarded(call, module):
                errors = unhandled_guard_errors(guard, inference)
                dispositions = Dispositions(inference, inference.module.enclosing_function(call))
                lost = dispositions.of_result(call, errors).lost(errors)
                if lost:
                    names = join_code(sorted(info.name for info in lost.values()))
                    message = f'{names} of this guard {_is_or_are(lost)} not handled.'
                    yield RawFinding(call, message, _help(lost))
            case _:
                pass


def _is_discarded(call: ast.Call, module: Module) -> bool:
    """Return whether the whole Result is discarded, which SW101 reports."""
    parent = module.parents.get(call)
    if isinstance(parent, ast.Await):
        parent = module.parents.get(parent)
    return isinstance(parent, ast.Expr)


def _find_unhandled_decorators(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    """Yield each guard used as a decorator with an error that all callers ignore."""
    calls: dict[str, list[ErrorSource]] = {
        guarded.function: [] for file in files for guarded in file.guarded_calls if guarded.function
    }
    for file in files:
        for function in file.functions:
            for entry in function.error_sources:
                if entry.callee in calls:
                    calls[entry.callee].append(entry)
    for file in files:
        for guarded in file.guarded_calls:
            callers = calls.get(guarded.function, ())
            lost = [
                error
                for error in guarded.guard_errors
                if callers and all(error in caller.lost for caller in callers)
            ]
            if lost:
                message = (
                    f'{join_class_names(lost)} of this guard {_is_or_are(lost)}'
                    f' not handled by any caller of `{short_name(guarded.function)}`.'
                )
                yield file, RuleHit('SW114', guarded.location, message, _help(lost))


def _is_or_are(errors: Sized) -> str:
    return 'is' if len(errors) == 1 else 'are'


def _help(errors: Sized) -> str:
    return _HELP if len(errors) == 1 else _HELP_PLURAL


RULE = Rule(
    'SW114',
    'unhandled error of a guard',
    'warning',
    __doc__ or '',
    _find_unhandled_calls,
    _find_unhandled_decorators,
)
