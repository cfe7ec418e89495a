"""# SW111: error without a producer or without a seam

Remove error classes that are never created, and decide about those that are. An unused class
burdens every channel and table that names it. A class that no adapter, arm or `catch` handles ends
as a defect in front of the user.

The rule needs the whole program: run `seamwise check --whole src` with every folder that creates or
shows errors.

```python
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.seams.http import on


class NoSuchUser(TaggedError, category=Category.NOT_FOUND, message='There is no user {uid}.'):
    uid: int


def find_user(uid: int) -> Result[str, NoSuchUser]:
    return Success('ada') if uid == 1 else Failure(NoSuchUser(uid))


SHOWN = on(NoSuchUser).responds(404, 'NO_SUCH_USER')
```

Reported:

```python
class Locked(TaggedError, category=Category.PERMISSION, message='This account is locked.'):
    pass
```

Fixed:

```python
class Blocked(TaggedError, category=Category.PERMISSION, message='This account is blocked.'):
    pass


def open_account(uid: int) -> Result[str, NoSuchUser | Blocked]:
    return Failure(Blocked()) if uid == 0 else find_user(uid)


ANSWERS = SHOWN | on(Blocked).responds(403, 'BLOCKED')
```

An error also counts as handled if it is handled together with all others, by a `lash` or a
`case Failure(error)`, or if it travels inside another error.
"""

from collections.abc import Iterator, Sequence

from seamwise.check.facts import FileFacts, RuleHit
from seamwise.check.rules.rule import Rule, short_name


def _find_unused_errors(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    created = frozenset[str]().union(*(file.constructed_errors for file in files))
    ended = {
        error
        for file in files
        for function in file.functions
        for entry in function.error_sources
        for error in entry.handled
    }
    handled = ended.union(*(file.handled_errors for file in files))
    for file in files:
        for error in file.classes:
            name = short_name(error.name)
            if error.name not in created:
                message = f'`{name}` is never created.'
                help_ = 'Remove the class, or return the error where it occurs.'
            elif error.name not in handled:
                message = f'`{name}` is neither shown by a seam nor handled.'
                help_ = 'Add an arm for it where errors are shown: `on(…)`, or a `case`.'
            else:
                continue
            yield file, RuleHit('SW111', error.location, message, help_)


RULE = Rule(
    'SW111',
    'error without a producer or without a seam',
    'warning',
    __doc__ or '',
    check_program=_find_unused_errors,
    needs_whole_program=True,
)
