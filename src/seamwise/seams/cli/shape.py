"""Shape of the CLI seam: a text for the terminal and an exit code (sysexits.h)."""

from typing import TYPE_CHECKING

from msgspec import Struct

from seamwise._runtime.source_excerpt import Place

if TYPE_CHECKING:
    from logging import Logger

DEFECT_TEXT = 'INTERNAL: the program met an unexpected condition.'
DEFECT_EXIT_CODE = 70
LATER_MESSAGE = 'try again later.'


class Rendered(Struct, frozen=True, omit_defaults=True):
    """A text that is safe to print, and an exit code from 0 to 255.

    The text does not end with a line break. `place` is the position that a configuration error
    points to; the text contains it too.
    """

    text: str
    exit_code: int
    place: Place | None = None


def defect(ref: str, *, log: 'Logger | None' = None) -> Rendered:
    """Return the text for a defect: its reference, and the log that has the details.

    Args:
        ref: The reference of the defect, from `report_defect`.
        log: The logger that was passed to `report_defect`. Default: `seamwise`.

    >>> import logging, sys
    >>> logger = logging.Logger('docs')
    >>> logger.addHandler(logging.StreamHandler(sys.__stderr__))
    >>> print(defect('err_2f4ad7qz', log=logger).text)
    INTERNAL: the program met an unexpected condition.
    hint: the log on standard error says more about err_2f4ad7qz.
    """
    from logging import getLogger  # noqa: PLC0415 -- defects are rare

    from seamwise.seams.cli.log_location import log_location  # noqa: PLC0415 -- as above

    location = log_location(log or getLogger('seamwise'))
    hint = (
        f'no log is configured; logging.basicConfig(filename=…) keeps the details of {ref}.'
        if location is None
        else f'the log {location} says more about {ref}.'
    )
    return Rendered(f'{DEFECT_TEXT}\nhint: {hint}', DEFECT_EXIT_CODE)
