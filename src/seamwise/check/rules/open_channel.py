"""# SW106: a channel that says nothing.

A channel names the errors that can occur, class by class. `Any` and `object` name none, `TaggedError` names every one there
is, and an exception class brings back what a Result is there to replace: nobody who gets such a Result can handle it case by
case, no `match` is exhaustive, and no seam can be checked.

Asked are the types that functions give back, and the channel that `Do[…]` declares. What a function takes may be as wide as
it likes: a helper that looks at any error is no hole.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class NotANumber(TaggedError, category=Category.VALIDATION, message='{text!r} is no number.'):
    text: str
```

Fails:

```python
def parse(text: str) -> Result[int, TaggedError]:
    return Success(int(text)) if text.isdecimal() else Failure(NotANumber(text))
```

Mended:

```python
def number_in(text: str) -> Result[int, NotANumber]:
    return Success(int(text)) if text.isdecimal() else Failure(NotANumber(text))
```
"""

from collections.abc import Iterable, Iterator

from mypy.types import (
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
from seamwise.check.inference.annotations import channel_edits
from seamwise.check.inference.functions import inferred_errors
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import base_names, channel_of, is_result, returned_type
from seamwise.check.typed_ast.program import Function, Module

SAID = frozenset({TypeOfAny.explicit, TypeOfAny.from_omitted_generics, TypeOfAny.from_another_any})
"""An Any that somebody wrote; one of a missing import or of a mistake is told by others."""
HELP = 'Name the errors: `Result[T, NotFound | Busy]`; a type variable where the caller says which.'


def find(module: Module) -> Iterator[RawFinding]:
    """Give each function whose channel names no error."""
    for node in module.functions():
        if not module.implements_overloads(node):
            wide = list(dict.fromkeys(_wide(_errors(node, module))))
            if wide:
                exact = inferred_errors(node, inference_of(module))
                edits = channel_edits(node, exact, module) if exact else ()
                yield RawFinding(
                    node,
                    f'The channel of `{node.name}` is {" and ".join(wide)}, which names no tagged error.',
                    HELP,
                    edits,
                )


def _errors(function: Function, module: Module) -> Iterator[ProperType]:
    declared = module.declared_type(function)
    if declared is None:
        return
    own = returned_type(declared.ret_type)
    if isinstance(own, TypeVarType):
        # Whatever the caller hands in comes back, with its own channel.
        return
    found = channel_of(own)
    if found is not None:
        # Of what gives a Result or something else, as of a classifier, the channel is its caller's matter.
        yield from found.errors if is_result(own) else ()
        return
    made = module.decorated_type(function)
    given = channel_of(returned_type(made.ret_type)) if isinstance(made, CallableType) else None
    # By `fallible`, `attempt`, or what others have of that kind.
    yield from given.errors if given is not None else ()


def _wide(errors: Iterable[ProperType]) -> Iterator[str]:
    for one in errors:
        error = get_proper_type(one)
        if isinstance(error, AnyType):
            if error.type_of_any in SAID and _is_said(error):
                yield '`Any`'
        elif isinstance(error, Instance) and (
            error.type.fullname in {'builtins.object', 'seamwise.errors.TaggedError'}
            or 'builtins.BaseException' in base_names(error)
        ):
            yield f'`{error.type.name}`'


def _is_said(error: AnyType) -> bool:
    return error.source_any is None or error.source_any.type_of_any in SAID


RULE = Rule('SW106', 'a channel that says nothing', 'warning', __doc__ or '', find)
