"""# SW115: a failure that becomes a value without a word.

`value_or` turns every failure into one value. For an error of the category NOT_FOUND that is often what is meant: nothing is
there, so take the default. A timeout, a missing permission or a broken file end in the same default, and nobody hears of them.

Fine is what has looked at the error before: `tap_error` with a log, an arm, a `catch` that takes the others out. This is a
hint, and off until it is named: `extend-select = ["SW115"]`, or `--select SW115`.

```python
from seamwise import Category, Failure, Result, Success, TaggedError, catch


class NoSuchKey(TaggedError, category=Category.NOT_FOUND, message='There is no setting {name!r}.'):
    name: str


class Unreadable(TaggedError, category=Category.CONFIGURATION, message='The settings cannot be read.'):
    pass


def setting(name: str) -> Result[str, NoSuchKey | Unreadable]:
    return Failure(NoSuchKey(name)) if name else Failure(Unreadable())
```

Fails:

```python
def colour() -> str:
    return setting('colour').value_or('blue')
```

Mended:

```python
def shade() -> Result[str, Unreadable]:
    return catch(NoSuchKey, lambda missing: Success('blue'))(setting('colour'))
```
"""

from collections.abc import Iterator, Sequence

from seamwise.check.facts import FileFacts, RuleHit
from seamwise.check.rules.rule import Rule
from seamwise.check.rules.traits import Traits

HELP = (
    'Take out what is expected with `catch`, or look at the rest first: `tap_error`, a log, an arm.'
)


def join(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    """Give each `value_or` that swallows something else than what was not found."""
    traits = Traits(files)
    for file in files:
        for one in file.defaulted_errors:
            silent = [error for error in one.errors if traits.category(error) != 'NOT_FOUND']
            if silent:
                names = ' and '.join(f'`{error.rpartition(".")[2]}`' for error in silent)
                yield (
                    file,
                    RuleHit(
                        'SW115',
                        one.location,
                        f'{names} ends in a default here, and nobody hears of it.',
                        HELP,
                    ),
                )


RULE = Rule(
    'SW115',
    'a failure that becomes a value without a word',
    'hint',
    __doc__ or '',
    join=join,
    is_asked=False,
)
