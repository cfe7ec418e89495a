"""# SW113: retry of errors that are not retryable

Use `retry` only for operations with at least one retryable error. `retry` checks whether each
error is retryable. If none is, the operation is never repeated: either the retry is superfluous, or
an error declares the wrong category.

```python
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.policies import deadline, retry


class NoSuchUser(TaggedError, category=Category.NOT_FOUND, message='There is no user {uid}.'):
    uid: int


def find_user(uid: int) -> Result[str, NoSuchUser]:
    return Success('ada') if uid == 1 else Failure(NoSuchUser(uid))
```

Reported:

```python
def patient(uid: int) -> Result[str, NoSuchUser]:
    return retry(attempts=5).run_sync(lambda: find_user(uid))
```

Fixed:

```python
def plain(uid: int) -> Result[str, NoSuchUser]:
    return find_user(uid)
```

| Case | Treatment |
| --- | --- |
| Errors of guards inside the retry | They count: `deadline` adds a timeout, which is retryable. |
| `retry(when=…)` | Not checked. |
| A guard that is built dynamically | Not checked. |
"""

from collections.abc import Iterator, Sequence

from seamwise.check.facts import FileFacts, GuardLayer, RuleHit
from seamwise.check.rules.error_classes import ErrorClasses
from seamwise.check.rules.guard_layers import expand_layers, guards_by_name
from seamwise.check.rules.rule import Rule, join_class_names

_HELP = (
    'Remove the retry; or, if a retry can help, declare it at the error:'
    ' `retryable=True`, or another category.'
)


def _find_pointless_retries(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    classes = ErrorClasses(files)
    guards = guards_by_name(files)
    for file in files:
        for call in file.guarded_calls:
            layers = expand_layers(call.layers, guards)
            if layers is None or call.errors is None:
                continue
            inner = _layers_inside_retry(layers)
            if inner is None:
                continue
            errors = {*call.errors, *(error for layer in inner for error in layer.errors)}
            if errors and all(classes.is_retryable(error) is False for error in errors):
                verb = 'is' if len(errors) == 1 else 'are'
                message = (
                    'This retry never repeats the operation:'
                    f' {join_class_names(sorted(errors))} {verb} not retryable.'
                )
                yield file, RuleHit('SW113', call.location, message, _HELP)


def _layers_inside_retry(layers: Sequence[GuardLayer]) -> Sequence[GuardLayer] | None:
    """Return the layers between the innermost retry and the operation; None without a retry."""
    indexes = [index for index, layer in enumerate(layers) if layer.kind == 'retry']
    return layers[indexes[-1] + 1 :] if indexes else None


RULE = Rule(
    'SW113',
    'retry of errors that are not retryable',
    'warning',
    __doc__ or '',
    check_program=_find_pointless_retries,
)
