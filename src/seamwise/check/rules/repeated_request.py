"""# SW122: repeated request that may have taken effect

Send an idempotency key with each POST or PATCH request under `retry` or `hedge`. An attempt that
failed may have taken effect: a bank that answers too late has charged the card, and the next
attempt charges it again.

```sh
pip install seamwise httpx
```

```python
import httpx

from seamwise import Category, Result, TaggedError, attempt, when
from seamwise.policies import keyed, retry


class BankDown(TaggedError, category=Category.UNAVAILABLE, message='The bank does not answer.'):
    pass


ERRORS = when(httpx.TransportError).becomes(lambda error: BankDown())
bank = httpx.Client(base_url='https://bank.example.org')
```

Reported:

```python
@retry(attempts=3)
@attempt(ERRORS)
def charge(cents: int) -> int:
    return bank.post('/charges', json={'cents': cents}).status_code
```

Fixed:

```python
@keyed(retry(attempts=3))
def charge_once(key: str, cents: int) -> Result[int, BankDown]:
    headers = {'Idempotency-Key': key}
    return attempt(
        lambda: bank.post('/charges', json={'cents': cents}, headers=headers).status_code,
        ERRORS,
    )
```

`keyed` generates one key for all attempts of a call. A key that the operation generates itself is
a different one in each attempt. An operation that never uses its key is reported.

Suppress the finding if the request changes nothing, if the server recognizes a repetition in
another way, or if the retried errors occur only before the request is sent:
`# seamwise: allow[SW122] a search`.

| Case | Checked |
| --- | --- |
| Clients and functions of httpx, httpx2, requests and aiohttp | yes |
| Tools with `@tool(is_repeatable=False)` | yes |
| Programs that `subprocess`, `os.system` or `asyncio` runs, since their effects are unknown | yes |
| `post`, `patch`, `request` and `stream` with the literal method POST or PATCH | yes |
| Guards by `run`, `run_sync`, as decorators, and in `for attempt in guard:` | yes |
| A function that the operation calls, in the checked files | yes, one level deep |
| A `hedge` of an operation that is not asynchronous, since it makes one attempt | no |
| `retry(when=…)`, `attempts=1`, or a guard that is built dynamically | no |
| A retry of RATE_LIMIT, CAPACITY and CIRCUIT_OPEN errors only, which refuse a request | no |
| `headers` that are not a literal, or a function that mentions an idempotency key | no |
| A request that depends on the answer of another call: `if not exists(order):` | no |
| A tool with `@tool(is_repeatable=True)` | no |
| A subclass of a client that overrides `post`, `request` or `send` | no |
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from seamwise.check.facts import FileFacts, GuardedCall, GuardLayer, RuleHit
from seamwise.check.rules.error_classes import ErrorClasses
from seamwise.check.rules.guard_layers import expand_layers, guards_by_name
from seamwise.check.rules.rule import Rule, join_code, short_name

_HELP = (
    'Send the key of `keyed(…)` in an `Idempotency-Key` header, or repeat only requests that read.'
)
_REFUSALS = frozenset({'RATE_LIMIT', 'CAPACITY', 'CIRCUIT_OPEN'})
"""Categories of errors that refuse a request before it takes effect."""


def _find_repeated_requests(files: Sequence[FileFacts]) -> Iterator[tuple[FileFacts, RuleHit]]:
    classes = ErrorClasses(files)
    guards = guards_by_name(files)
    requests = _requests_by_function(files)
    for file in files:
        for call in file.guarded_calls:
            sent = [_format(call.requests)] if call.requests else []
            sent += [
                f'{_format(requests[callee])} in `{short_name(callee)}`'
                if all(requests[callee])
                else _format([short_name(callee)])
                for callee in call.callees
                if callee in requests
            ]
            layers = expand_layers(call.layers, guards)
            if sent and layers is not None:
                guard = _repeating_guard(layers, call, classes)
                if guard:
                    message = (
                        f'This {guard} repeats {" and ".join(sent)}, which may have taken effect.'
                    )
                    yield file, RuleHit('SW122', call.location, message, _HELP)


def _requests_by_function(files: Iterable[FileFacts]) -> Mapping[str, Sequence[str]]:
    requests: dict[str, list[str]] = {}
    for file in files:
        for request in file.unsafe_requests:
            requests.setdefault(request.function, []).append(request.call)
    return requests


def _repeating_guard(layers: Sequence[GuardLayer], call: GuardedCall, classes: ErrorClasses) -> str:
    """Return the outermost guard that may repeat a request that took effect; empty if none."""
    for index, layer in enumerate(layers):
        inner_errors = [error for inner in layers[index + 1 :] for error in inner.errors]
        if layer.repetition == 'hedge' and call.is_async:
            return layer.repetition
        if layer.repetition == 'retry' and (
            call.errors is None
            or any(_may_follow_effect(error, classes) for error in (*call.errors, *inner_errors))
        ):
            return layer.repetition
    return ''


def _may_follow_effect(error: str, classes: ErrorClasses) -> bool:
    """Return whether an error is retried although the request may have taken effect."""
    return classes.is_retryable(error) is not False and classes.category(error) not in _REFUSALS


def _format(requests: Iterable[str]) -> str:
    return join_code(f'{request}(…)' for request in requests)


RULE = Rule(
    'SW122',
    'repeated request that may have taken effect',
    'warning',
    __doc__ or '',
    check_program=_find_repeated_requests,
)
