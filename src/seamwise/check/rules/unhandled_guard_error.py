"""# SW114: a guard whose own error nobody handles.

A guard adds its own error to what it guards: a circuit that is open, a deadline that has passed. Whoever calls through it and
looks only at the errors of the operation answers those with silence, at the very moment when the service is in trouble.

Handled is what an arm, a `catch`, a `lash`, a `fallback` or an adapter takes, or a `case Failure(error)` that does something
with it. Returned is fine: then the channel declares it, and it is the next one's. Falling through a `match` or through a
chain of `isinstance` is not handling.

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

Fails:

```python
def forecast(name: str) -> str | None:
    match upstream.run_sync(lambda: look_up(name)):
        case Success(weather):
            return weather
        case Failure(NoSuchCity()):
            return 'Where is that?'
    return None
```

Mended:

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
"""

import ast
from collections.abc import Iterator, Sequence

from seamwise.check.facts import ErrorSource, FileFacts, RuleHit
from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.dispositions import Dispositions
from seamwise.check.inference.guards import is_guard, unhandled_guard_errors
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.program import Module

HELP = 'Give it an arm, `catch` it, or return it, so that the channel declares it.'


def find(module: Module) -> Iterator[RawFinding]:
    """Give each call of `run` after which nobody looks at what the guard itself fails with."""
    reader = inference_of(module)
    for call in module.nodes_of_type(ast.Call):
        match call.func:
            case ast.Attribute(guard, 'run' | 'run_sync') if (
                call.args and is_guard(guard, reader) and not _is_dropped(call, module)
            ):
                own = unhandled_guard_errors(guard, reader)
                lost = (
                    Dispositions(reader, reader.enclosing_function(call))
                    .of_result(call, own)
                    .lost(own)
                )
                if lost:
                    yield RawFinding(
                        call,
                        f'{_named(sorted(info.name for info in lost.values()))} of this guard is handled nowhere.',
                        HELP,
                    )
            case _:
                pass


def _is_dropped(call: ast.Call, module: Module) -> bool:
    """Whether the whole Result is thrown away, which SW101 tells."""
    around = module.parents.get(call)
    if isinstance(around, ast.Await):
        around = module.parents.get(around)
    return isinstance(around, ast.Expr)


def join(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    """Give each decorator that is a guard where none of the calls of its function looks at what it fails with."""
    calls_of: dict[str, list[ErrorSource]] = {
        one.function: [] for file in files for one in file.guarded_calls if one.function
    }
    for entry in (
        entry for file in files for function in file.functions for entry in function.error_sources
    ):
        if entry.callee in calls_of:
            calls_of[entry.callee].append(entry)
    for file in files:
        for one in file.guarded_calls:
            calls = calls_of.get(one.function, ())
            lost = [
                error
                for error in one.guard_errors
                if calls and all(error in call.lost for call in calls)
            ]
            if lost:
                names = _named([error.rpartition('.')[2] for error in lost])
                yield (
                    file,
                    RuleHit(
                        'SW114',
                        one.location,
                        f'{names} of this guard is handled by no caller of `{_last(one.function)}`.',
                        HELP,
                    ),
                )


def _named(names: Sequence[str]) -> str:
    return ' and '.join(f'`{name}`' for name in names)


def _last(name: str) -> str:
    return name.rpartition('.')[2]


RULE = Rule('SW114', 'a guard whose own error nobody handles', 'warning', __doc__ or '', find, join)
