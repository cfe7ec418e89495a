"""Exceptions with a traceback."""


def raised(error: BaseException) -> BaseException:
    """Return an exception after raising it."""
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001 -- returned with its traceback
        return caught
