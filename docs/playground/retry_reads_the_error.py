# A guard reads the error, never its text: `BankDown` is retryable and says how long to
# wait, `CardDeclined` is not. The clock is virtual, so nothing really waits.
from collections.abc import Iterator

from seamwise import Category, Failure, Result, Success, TaggedError
from seamwise.policies import retry
from seamwise.testing import FakeWorld


class BankDown(TaggedError, category=Category.UNAVAILABLE, message='The bank does not answer.'):
    retry_after: float | None = None


class CardDeclined(TaggedError, category=Category.CONFLICT, message='Declined: {reason}.'):
    reason: str


def answers() -> Iterator[Result[str, BankDown | CardDeclined]]:
    yield Failure(BankDown(retry_after=30))
    yield Failure(BankDown())
    yield Success('receipt')
    yield Failure(CardDeclined('no money'))


world = FakeWorld()
guard = retry(attempts=3, jitter='none', world=world)
bank = answers()

print(guard.run_sync(lambda: next(bank)), 'after', world.slept, 'seconds')

# At once: another attempt would fail too.
guard.run_sync(lambda: next(bank))
