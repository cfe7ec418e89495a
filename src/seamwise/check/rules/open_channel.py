"""# SW106: error channel that names no specific error

Name the errors of a channel class by class. `Any` and `object` name none, `TaggedError` names all,
and an exception class brings back the exceptions that a Result replaces. Callers cannot handle such
a Result case by case: no `match` is exhaustive, and no seam can be checked.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class NotANumber(TaggedError, category=Category.VALIDATION, message='{text!r} is no number.'):
    text: str
```

Reported:

```python
def parse(text: str) -> Result[int, TaggedError]:
    return Success(int(text)) if text.isdecimal() else Failure(NotANumber(text))
```

Fixed:

```python
def number_in(text: str) -> Result[int, NotANumber]:
    return Success(int(text)) if text.isdecimal() else Failure(NotANumber(text))
```

The finding names the errors that the function returns today, if they are known.

The rule checks return types and the channel that `Do[…]` declares. Parameters may be as wide as
necessary, for example in a helper that logs any error.

A channel of specific exceptions only, such as `Result[int, KeyError | OSError]`, is a hint: its
callers can handle each case, but no seam shows an exception. So is
`@safe(exceptions=(KeyError, OSError))` of `returns`.

The containers of `returns` for effects count too: `IOResult`, `FutureResult`, those that require a
context, and the functions that `@impure_safe` and `@future_safe` decorate.
"""

from collections.abc import Iterable, Iterator

from seamwise.check._mypy.types import (
    AnyType,
    CallableType,
    Instance,
    ProperType,
    TypeOfAny,
    TypeVarType,
    get_proper_type,
)
from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.definitions.functions import inferred_errors
from seamwise.check.inference.edits.annotations import channel_edits
from seamwise.check.inference.exception_flow.escaping import safe_exceptions
from seamwise.check.rules.rule import Rule, join_class_names, join_code
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    UNSPECIFIC,
    any_channel_of,
    base_names,
    channel_of,
    declared_channel_of,
    returned_type,
    without_type_variables,
)
from seamwise.check.typed_ast.program import Function, Module

_WRITTEN_ANY = frozenset(
    {TypeOfAny.explicit, TypeOfAny.from_omitted_generics, TypeOfAny.from_another_any}
)
"""Kinds of `Any` that are written in the source. mypy itself reports the others."""
_UNSPECIFIC = frozenset({'Any', 'object', 'TaggedError', 'Exception', 'BaseException'})
_HELP = (
    'Name the errors, as in `Result[T, NotFound | Busy]`;'
    ' use a type variable if the caller decides which.'
)


def _find_open_channels(module: Module) -> Iterator[RawFinding]:
    for function in module.functions():
        if module.implements_overloads(function):
            continue
        exceptions = [class_.short_name for class_ in safe_exceptions(function, module)]
        declared = exceptions or _open_types(_declared_errors(function, module))
        names = list(dict.fromkeys(declared))
        if names:
            errors = inferred_errors(function, inference_of(module))
            edits = channel_edits(function, errors, module) if errors else ()
            if _UNSPECIFIC.isdisjoint(names):
                # Each class is specific, but no seam can show an exception.
                yield RawFinding(
                    function,
                    f'The channel of `{function.name}` is {join_code(names)}: exceptions,'
                    ' which have no category and which no seam shows.',
                    'Convert them to error classes with `attempt` and `when(…).becomes(…)`.',
                    edits,
                    severity='hint',
                )
                continue
            message = (
                f'The channel of `{function.name}` is {join_code(names)},'
                ' which names no specific error'
            )
            arriving = without_type_variables(errors or NO_ERRORS).keys() - UNSPECIFIC
            if arriving:
                # The errors that a caller can get today.
                message += f'; it can return {join_class_names(sorted(arriving))}'
            yield RawFinding(function, f'{message}.', _HELP, edits)


def _declared_errors(function: Function, module: Module) -> Iterator[ProperType]:
    declared = module.declared_type(function)
    if declared is None:
        return
    return_type = returned_type(declared.ret_type)
    if isinstance(return_type, TypeVarType):
        # The function returns the caller's own Result, with its channel.
        return
    channel = declared_channel_of(return_type)
    if channel is not None:
        yield from channel.errors
        return
    if channel_of(return_type) is not None:
        # If it returns a Result or another type, as a classifier does, its caller owns the channel.
        return
    # `fallible`, `attempt` and similar decorators declare the channel.
    decorated = module.decorated_type(function)
    if isinstance(decorated, CallableType):
        channel = any_channel_of(returned_type(decorated.ret_type))
        yield from channel.errors if channel is not None else ()


def _open_types(errors: Iterable[ProperType]) -> Iterator[str]:
    for type_ in errors:
        error = get_proper_type(type_)
        if isinstance(error, AnyType):
            if error.type_of_any in _WRITTEN_ANY and _has_written_source(error):
                yield 'Any'
        elif isinstance(error, Instance) and (
            error.type.fullname in UNSPECIFIC or 'builtins.BaseException' in base_names(error)
        ):
            yield error.type.name


def _has_written_source(error: AnyType) -> bool:
    return error.source_any is None or error.source_any.type_of_any in _WRITTEN_ANY


RULE = Rule(
    'SW106',
    'error channel that names no specific error',
    'warning',
    __doc__ or '',
    _find_open_channels,
)
