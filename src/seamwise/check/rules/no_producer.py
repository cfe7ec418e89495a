"""# SW111: an error without a producer or without a seam.

An error class that nobody makes is dead weight in every channel and every table that names it. One that is made, and that no
adapter, arm or `catch` decides about, ends as a defect in front of the user. What is handled together with all others, by a
`lash` or a `case Failure(error)`, or travels inside of another error, counts as decided about.

Only a whole program can be asked: `seamwise check --whole src`, with every folder that makes errors or shows them.

```python
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import on


class NoSuchUser(TaggedError, category=Category.NOT_FOUND, message='There is no user {uid}.'):
    uid: int


def find_user(uid: int) -> Result[str, NoSuchUser]:
    return Success('ada') if uid == 1 else Failure(NoSuchUser(uid))


SHOWN = on(NoSuchUser).responds(404, 'NO_SUCH_USER')
```

Fails:

```python
class Locked(TaggedError, category=Category.PERMISSION, message='This account is locked.'):
    pass
```

Mended:

```python
class Blocked(TaggedError, category=Category.PERMISSION, message='This account is blocked.'):
    pass


def open_account(uid: int) -> Result[str, NoSuchUser | Blocked]:
    return Failure(Blocked()) if uid == 0 else find_user(uid)


ANSWERS = SHOWN | on(Blocked).responds(403, 'BLOCKED')
```
"""

from collections.abc import Iterator, Sequence

from seamwise.check.facts import FileFacts, RuleHit
from seamwise.check.rules.rule import Rule


def join(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    """Give each error class that nobody makes, or that no seam shows."""
    made = frozenset[str]().union(*(file.constructed_errors for file in files))
    handled = {
        error
        for file in files
        for function in file.functions
        for entry in function.error_sources
        for error in entry.handled
    }
    decided = handled.union(*(file.handled_errors for file in files))
    for file in files:
        for one in file.classes:
            name = one.name.rpartition('.')[2]
            if one.name not in made:
                yield (
                    file,
                    RuleHit(
                        'SW111',
                        one.location,
                        f'Nobody makes `{name}`.',
                        'Take it out, or return it where it happens.',
                    ),
                )
            elif one.name not in decided:
                message = f'No seam shows `{name}`, and nobody handles it.'
                yield (
                    file,
                    RuleHit(
                        'SW111',
                        one.location,
                        message,
                        'Give it an arm where errors are shown: `on(…)`, or a `case`.',
                    ),
                )


RULE = Rule(
    'SW111',
    'an error without a producer or without a seam',
    'warning',
    __doc__ or '',
    join=join,
    is_of_whole=True,
)
