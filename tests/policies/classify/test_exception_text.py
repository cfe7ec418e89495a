"""Of what somebody else wrote a little is shown, and never half a secret."""

from seamwise.policies.classify.exception_text import MAX_LENGTH, redacted_excerpt

DSN = 'postgresql://ann:hunter2@db/shop'


def test_a_secret_that_is_cut_where_the_search_ends_is_not_shown() -> None:
    for length in range(4040, 4100):
        shown = redacted_excerpt(f'token={"x" * length} {DSN}')
        assert shown == 'token=*** postgresql://***@db/shop'


def test_no_more_is_shown_than_is_fit_for_a_line() -> None:
    assert (
        redacted_excerpt(f'{DSN} {"x" * 9000}')
        == f'postgresql://***@db/shop {"x" * 9000}'[:MAX_LENGTH]
    )
