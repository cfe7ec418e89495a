"""Switch for all guards of the process."""

is_on = True
"""Whether guards do anything. Read as `activity.is_on`: a call of a function takes too long."""


def set_active(active: bool) -> None:  # noqa: FBT001 -- as in stamina
    """Switch all guards of the process on or off, e.g. for the tests of a program.

    An inactive guard calls the operation once: it does not retry, limit, count or cancel anything.
    Calls that have begun are not affected. Caches work as before.

    >>> set_active(False)
    >>> is_active()
    False
    >>> set_active(True)
    """
    global is_on  # noqa: PLW0603 -- read by every call, so a plain variable
    is_on = active


def is_active() -> bool:
    """Return whether the guards of the process are active; see `set_active`.

    >>> is_active()
    True
    """
    return is_on
