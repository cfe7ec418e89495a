"""What an exception says of itself, fit for the field of an error: one line, without secrets, short."""

from seamwise.redaction import redact

SHOWN = 200
"""So many characters at most of what somebody else wrote stand in an error."""

_READ = 4096
"""So many characters of it are searched for secrets: half a credential is known as one only before the cut."""


def excerpt(text: str, /) -> str:
    """Give the beginning of a text, without secrets.

    >>> excerpt('no user at postgresql://ann:hunter2@db/shop')
    'no user at postgresql://***@db/shop'
    """
    shown = redact(text[:_READ])
    if len(shown) <= SHOWN and len(text) > _READ:
        # So much was masked that the cut itself would be shown.
        shown = redact(text)
    return shown[:SHOWN]


def reason(raised: BaseException, /) -> str:
    r"""Give the first line of what an exception says, or the name of its class where it says nothing.

    >>> reason(ConnectionError('refused\nIs the server running?')), reason(ConnectionError())
    ('refused', 'ConnectionError')
    """
    line = str(raised).strip().partition('\n')[0]
    return excerpt(line.strip().removesuffix('.')) or type(raised).__name__
