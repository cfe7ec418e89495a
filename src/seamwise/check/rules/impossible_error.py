"""# SW105: declared error that cannot occur

Remove errors that a function declares but can never return. Each error in a channel costs its
callers an arm, a test, and a decision at every seam. An impossible one is often left over from a
change.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class NotANumber(TaggedError, category=Category.VALIDATION, message='{text!r} is no number.'):
    text: str


class Empty(TaggedError, category=Category.VALIDATION, message='Nothing is there.'):
    pass
```

Reported:

```python
def parse(text: str) -> Result[int, NotANumber | Empty]:
    return Success(int(text)) if text.isdecimal() else Failure(NotANumber(text))
```

Fixed:

```python
def number_in(text: str) -> Result[int, NotANumber]:
    return Success(int(text)) if text.isdecimal() else Failure(NotANumber(text))
```

A function that always succeeds returns `Success[int]`. `--fix` writes that too, and replaces an
alias by the errors that remain of it.

A stand-in for a function that can fail may declare `Success[int]` too: it fits wherever a
`Result[int, NotANumber]` is expected, so that its callers keep their arms.

The rule trusts the declared channel of each callee. A channel that is too wide is therefore one
finding, not one for each caller.

An error of a Result that SW101, SW104 or SW117 reports in the function is not reported: the
function returns it once that finding is fixed.

These functions are not checked:

- abstract methods, protocols, stubs and overloads
- methods that declare an error for an override in a subclass
- methods that override one of a base class, or implement one of a protocol in the checked files,
  if that method declares the error: remove it there first
- functions with a finding of SW102 or SW103, which return an error once that finding is fixed, and
  functions with a branch that raises `NotImplementedError`, or the error itself
- functions that pass their `do`, or the value they return, through an untyped function
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from seamwise.check.facts import FileFacts, FunctionFacts, ProtocolFacts, RuleHit
from seamwise.check.rules.raise_in_result_function import raising_calls
from seamwise.check.rules.rule import Rule, join_class_names, short_name

_HELP = 'Remove it from the channel, and its arms from the callers.'
_HELP_PLURAL = 'Remove them from the channel, and their arms from the callers.'


def _find_impossible_errors(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    overrides = _overrides(files)
    protocols = _protocol_methods(files)
    raising = {call.function for call in raising_calls(files)}
    for file in files:
        for function in file.functions:
            impossible = [
                error
                for error in function.impossible_errors
                if function.name not in raising
                and not any(
                    _may_return(override, error) for override in overrides.get(function.name, ())
                )
                and not _is_declared_by_protocol(function, error, protocols)
            ]
            if not impossible:
                continue
            is_plural = len(impossible) > 1
            message = (
                f'`{short_name(function.name)}` declares {join_class_names(impossible)},'
                f' but nothing in it can return {"them" if is_plural else "it"}.'
            )
            # The edit removes all impossible errors, so it fits only if no override needs one.
            edits = (
                function.removal_edits if len(impossible) == len(function.impossible_errors) else ()
            )
            help_ = _HELP_PLURAL if is_plural else _HELP
            if function.success_type and len(impossible) == len(function.impossible_errors):
                message = (
                    f'`{short_name(function.name)}` always succeeds,'
                    f' but declares {join_class_names(impossible)}.'
                )
                help_ = f'Return `{function.success_type}`, and remove the arms from the callers.'
            yield file, RuleHit('SW105', function.location, message, help_, edits)


def _overrides(files: Sequence[FileFacts]) -> Mapping[str, Sequence[FunctionFacts]]:
    """Return the overrides of each method."""
    overrides: dict[str, list[FunctionFacts]] = {}
    for file in files:
        for function in file.functions:
            for name in function.overrides:
                overrides.setdefault(name, []).append(function)
    return overrides


class _ProtocolMethod(NamedTuple):
    protocol: ProtocolFacts
    declared: AbstractSet[str]


def _protocol_methods(files: Sequence[FileFacts]) -> Mapping[str, Sequence[_ProtocolMethod]]:
    """Return the methods of protocols that return a Result, by their short names."""
    functions = {function.name: function for file in files for function in file.functions}
    methods: dict[str, list[_ProtocolMethod]] = {}
    for file in files:
        for protocol in file.protocols:
            for member in protocol.members:
                method = functions.get(f'{protocol.name}.{member}')
                if method is not None and method.declared:
                    item = _ProtocolMethod(protocol, frozenset(method.declared))
                    methods.setdefault(member, []).append(item)
    return methods


def _is_declared_by_protocol(
    function: FunctionFacts, error: str, methods: Mapping[str, Sequence[_ProtocolMethod]]
) -> bool:
    """Return whether a class has all members of a protocol that declares an error of a method."""
    return any(
        error in method.declared and set(method.protocol.members) <= set(function.class_members)
        for method in methods.get(short_name(function.name), ())
    )


def _may_return(function: FunctionFacts, error: str) -> bool:
    """Return whether a method may return an error; assume so if its errors are unknown."""
    return function.inferred is None or error in function.inferred


RULE = Rule(
    'SW105',
    'declared error that cannot occur',
    'warning',
    __doc__ or '',
    check_program=_find_impossible_errors,
)
