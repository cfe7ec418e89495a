"""Shape of the CLI seam: a text for the terminal and an exit code (sysexits.h)."""

from msgspec import Struct

from seamwise._text.source_excerpt import Place


class Rendered(Struct, frozen=True, omit_defaults=True):
    """A text that is safe to print, and an exit code from 0 to 255.

    The text does not end with a line break. `place` is the position that a configuration error
    points to; the text contains it too.
    """

    text: str
    exit_code: int
    place: Place | None = None


def defect(ref: str) -> Rendered:
    """Return the text for a defect: its reference, and where to find the details.

    >>> defect('err_2f4ad7qz').exit_code
    70
    """
    return Rendered(
        'INTERNAL: the program met an unexpected condition.\n'
        f'hint: the log on standard error says more about {ref}.',
        70,
    )
