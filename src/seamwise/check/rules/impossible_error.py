"""# SW105: an error that is declared and cannot occur.

A channel is read by everybody who calls: each error in it costs an arm, a test and a decision at every seam. One that nothing
in the function can bring is a promise without use, often left behind by a change.

Each call brings what its callee declares, so that one function with too wide a channel is one finding, and not one for each of
its callers. Of an abstract method, a protocol, a stub and an overload nobody can say; a method whose place another class takes
may declare for it. A function that hands its `do`, or what it returns, through something that has no type is not asked either.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class NotANumber(TaggedError, category=Category.VALIDATION, message='{text!r} is no number.'):
    text: str


class Empty(TaggedError, category=Category.VALIDATION, message='Nothing is there.'):
    pass
```

Fails:

```python
def parse(text: str) -> Result[int, NotANumber | Empty]:
    return Success(int(text)) if text.isdecimal() else Failure(NotANumber(text))
```

Mended:

```python
def number_in(text: str) -> Result[int, NotANumber]:
    return Success(int(text)) if text.isdecimal() else Failure(NotANumber(text))
```
"""

from collections.abc import Iterator, Mapping, Sequence

from seamwise.check.facts import FileFacts, FunctionFacts, RuleHit
from seamwise.check.rules.rule import Rule

HELP = 'Take it out of the channel, and its arms out of the callers.'


def join(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    """Give each function that declares an error which neither it nor a method in its place can bring."""
    in_place = _in_place(files)
    for file in files:
        for function in file.functions:
            unmade = [
                error
                for error in function.impossible_errors
                if not any(_brings(one, error) for one in in_place.get(function.name, ()))
            ]
            if unmade:
                names = ' and '.join(f'`{error.rpartition(".")[2]}`' for error in unmade)
                own = function.name.rpartition('.')[2]
                message = f'`{own}` declares {names}, and nothing in it can bring {_it(unmade)}.'
                # The edit takes out all that it does not bring itself.
                edits = (
                    function.removal_edits if len(unmade) == len(function.impossible_errors) else ()
                )
                yield file, RuleHit('SW105', function.location, message, HELP, edits)


def _in_place(files: Sequence[FileFacts]) -> Mapping[str, Sequence[FunctionFacts]]:
    """Give the methods that stand in the place of each method."""
    found: dict[str, list[FunctionFacts]] = {}
    for file in files:
        for function in file.functions:
            for name in function.overrides:
                found.setdefault(name, []).append(function)
    return found


def _brings(function: FunctionFacts, error: str) -> bool:
    """Whether a method brings an error: one of which nobody can say what it brings may do so."""
    return error in (function.inferred if function.inferred is not None else (error,))


def _it(unmade: Sequence[str]) -> str:
    return 'it' if len(unmade) == 1 else 'them'


RULE = Rule(
    'SW105', 'an error that is declared and cannot occur', 'warning', __doc__ or '', join=join
)
