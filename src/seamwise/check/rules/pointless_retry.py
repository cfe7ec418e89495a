"""# SW113: a retry around what no retry can help.

A retry asks an error whether it is worth another try. Where every error of the operation says no, nothing is ever tried again:
the guard promises a patience that it does not have, or the errors say the wrong thing about themselves.

What guards between the two add is counted: a `deadline` inside of the retry fails with a timeout, which is worth another try.
A retry with a `when` of its own is not asked, nor one of which a file does not tell how it was made.

```python
from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.policies import deadline, retry


class NoSuchUser(TaggedError, category=Category.NOT_FOUND, message='There is no user {uid}.'):
    uid: int


def find_user(uid: int) -> Result[str, NoSuchUser]:
    return Success('ada') if uid == 1 else Failure(NoSuchUser(uid))
```

Fails:

```python
def patient(uid: int) -> Result[str, NoSuchUser]:
    return retry(attempts=5).run_sync(lambda: find_user(uid))
```

Mended:

```python
def plain(uid: int) -> Result[str, NoSuchUser]:
    return find_user(uid)
```
"""

from collections.abc import Iterator, Mapping, Sequence

from seamwise.check.facts import FileFacts, GuardLayer, RuleHit
from seamwise.check.rules.rule import Rule
from seamwise.check.rules.traits import Traits

HELP = 'Take the retry out; or, if another try can help, say so at the error: `retryable=True`, or its category.'


def join(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    """Give each retry around an operation whose every error says that another try is no use."""
    traits = Traits(files)
    guards = _by_name(files)
    for file in files:
        for one in file.guarded_calls:
            layers = _spelled_out(one.layers, guards) if one.layers is not None else None
            if layers is None or one.errors is None:
                continue
            inner = _inside_of_retry(layers)
            errors = (
                None
                if inner is None
                else [*one.errors, *(error for layer in inner for error in layer.errors)]
            )
            if errors and all(traits.is_retryable(error) is False for error in errors):
                names = ' and '.join(
                    f'`{error.rpartition(".")[2]}`' for error in sorted(set(errors))
                )
                yield (
                    file,
                    RuleHit(
                        'SW113',
                        one.location,
                        f'This retry never tries again: {names} {_says(errors)} that it is no use.',
                        HELP,
                    ),
                )


def _by_name(files: Sequence[FileFacts]) -> Mapping[str, Sequence[GuardLayer]]:
    """Give the guards that are under one name the same wherever they are put there."""
    found: dict[str, set[tuple[GuardLayer, ...] | None]] = {}
    for file in files:
        for guard in file.guards:
            found.setdefault(guard.name, set()).add(guard.layers)
    return {
        name: layers
        for name, (layers, *others) in found.items()
        if layers is not None and not others
    }


def _says(errors: Sequence[str]) -> str:
    return 'says' if len(set(errors)) == 1 else 'say'


def _spelled_out(
    layers: Sequence[GuardLayer],
    guards: Mapping[str, Sequence[GuardLayer]],
    above: frozenset[str] = frozenset(),
) -> list[GuardLayer] | None:
    """Put the layers of a guard in the place of its name; None where it is not known."""
    found: list[GuardLayer] = []
    for layer in layers:
        if layer.kind != 'named':
            found.append(layer)
            continue
        named = guards.get(layer.name) if layer.name not in above else None
        inner = _spelled_out(named, guards, above | {layer.name}) if named is not None else None
        if inner is None:
            return None
        found += inner
    return found


def _inside_of_retry(layers: Sequence[GuardLayer]) -> Sequence[GuardLayer] | None:
    """Give what stands between the innermost retry and the operation; None where there is no retry."""
    places = [number for number, layer in enumerate(layers) if layer.kind == 'retry']
    return layers[places[-1] + 1 :] if places else None


RULE = Rule('SW113', 'a retry around what no retry can help', 'warning', __doc__ or '', join=join)
