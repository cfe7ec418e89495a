"""Redacted excerpts of foreign texts."""

from seamwise.policies.classify.exception_text import MAX_LENGTH, redacted_excerpt

DSN = 'postgresql://ann:hunter2@db/shop'


def test_excerpt_masks_a_secret_at_the_end_of_the_redacted_part() -> None:
    for length in range(4040, 4100):
        excerpt = redacted_excerpt(f'token={"x" * length} {DSN}')
        assert excerpt == 'token=*** postgresql://***@db/shop'


def test_excerpt_has_a_maximum_length() -> None:
    assert (
        redacted_excerpt(f'{DSN} {"x" * 9000}')
        == f'postgresql://***@db/shop {"x" * 9000}'[:MAX_LENGTH]
    )
