"""What a person at a terminal is shown of an error: a text, and the exit code that goes with it (sysexits.h)."""

from msgspec import Struct

from seamwise._text.source_excerpt import Place as Place


class Rendered(Struct, frozen=True, omit_defaults=True):
    """A text without its last line end, safe to print, and an exit code of 0 to 255. Making one prints nothing.

    `place` is where an error of configuration points to; the text names it too.
    """

    text: str
    exit_code: int
    place: Place | None = None


def defect(ref: str) -> Rendered:
    """Tell of a defect: its reference, and where more is to be found.

    >>> defect('err_2f4ad7qz').exit_code
    70
    """
    return Rendered(
        f'INTERNAL: the program met an unexpected condition.\nhint: the log on standard error says more about {ref}.',
        70,
    )
