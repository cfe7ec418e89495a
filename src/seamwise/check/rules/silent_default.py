"""# SW115: failure silently replaced by a default

Use `value_or` only if every failure means that nothing was found. It returns the same default
for a timeout, a missing permission or a broken file, and the error is lost.

This hint is off by default. Turn it on with `extend-select = ["SW115"]` or `--select SW115`.

```python
from seamwise import Category, Failure, Result, Success, TaggedError, catch


class NoSuchKey(TaggedError, category=Category.NOT_FOUND, message='There is no setting {name!r}.'):
    name: str


class Unreadable(TaggedError, category=Category.CONFIGURATION, message='Settings are unreadable.'):
    pass


def setting(name: str) -> Result[str, NoSuchKey | Unreadable]:
    return Failure(NoSuchKey(name)) if name else Failure(Unreadable())
```

Reported:

```python
def colour() -> str:
    return setting('colour').value_or('blue')
```

Fixed:

```python
def shade() -> Result[str, Unreadable]:
    return catch(NoSuchKey, lambda missing: Success('blue'))(setting('colour'))
```

A `value_or` is not reported if all errors have the category NOT_FOUND, or if the error was used
before: by `tap_error` with a log, by an arm, or by a `catch` that removes the other errors.
"""

from collections.abc import Iterator, Sequence

from seamwise.check.facts import FileFacts, RuleHit
from seamwise.check.rules.error_classes import ErrorClasses
from seamwise.check.rules.rule import Rule, join_class_names

_HELP = (
    'Handle the expected error with `catch`,'
    ' or look at the others first: `tap_error`, a log, an arm.'
)


def _find_silent_defaults(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    classes = ErrorClasses(files)
    for file in files:
        for defaulted in file.defaulted_errors:
            errors = [error for error in defaulted.errors if classes.category(error) != 'NOT_FOUND']
            if errors:
                verb = 'is' if len(errors) == 1 else 'are'
                message = f'{join_class_names(errors)} {verb} silently replaced by a default.'
                yield file, RuleHit('SW115', defaulted.location, message, _HELP)


RULE = Rule(
    'SW115',
    'failure silently replaced by a default',
    'hint',
    __doc__ or '',
    check_program=_find_silent_defaults,
    is_default=False,
)
