import builtins
import sys
import contextlib
from contextlib import suppress
from typing import NoReturn

from seamwise import report_defect

Anything = Exception


# case: swallowed
def swallowed() -> int:
    try:
        return 1
    except Exception:  # finds: SW103
        return 2


# case: named
def named() -> int:
    try:
        return 1
    except (ValueError, OSError):
        return 2


# case: bare
def bare() -> int:
    try:
        return 1
    except:  # finds: SW103
        return 2


# case: everything
def everything() -> int:
    try:
        return 1
    except BaseException:  # finds: SW103
        return 2


# case: raised again
def again() -> int:
    try:
        return 1
    except BaseException:
        print()
        raise


# case: another one is raised
def another() -> int:
    try:
        return 1
    except Exception as raised:
        raise RuntimeError from raised


# case: raised again on every way
def on_every_way(which: bool) -> int:
    try:
        return 1
    except Exception:
        if which:
            raise
        else:
            raise RuntimeError


# case: raised again on one way
def on_one_way(which: bool) -> int:
    try:
        return 1
    except Exception:  # finds: SW103
        if which:
            raise
    return 2


# case: known errors are returned, others raised again
def known_first() -> int:
    try:
        return 1
    except Exception as raised:
        if isinstance(raised, OSError):
            return 2
        raise


# case: reported
def reported() -> str:
    try:
        return 'a'
    except Exception as raised:
        return report_defect(raised).ref


# case: reported, but cancellation is swallowed
def reported_too_much() -> str:
    try:
        return 'a'
    except BaseException as raised:  # finds: SW103
        return report_defect(raised).ref


# case: another one is reported
def reported_another(earlier: Exception) -> str:
    try:
        return 'a'
    except Exception:  # finds: SW103
        return report_defect(earlier).ref


# case: among others
def among() -> int:
    try:
        return 1
    except (ValueError, Exception):  # finds: SW103
        return 2


# case: under another name
def renamed() -> int:
    try:
        return 1
    except Anything:  # finds: SW103
        return 2


# case: by its module
def by_module() -> int:
    try:
        return 1
    except builtins.Exception:  # finds: SW103
        return 2


# case: suppressed
def suppressed() -> None:
    with suppress(Exception):  # finds: SW103
        print()


# case: suppressed among others, async
async def suppressed_later() -> None:
    with contextlib.suppress(ValueError, BaseException):  # finds: SW103
        print()


# case: suppressed by name
def suppressed_by_name() -> None:
    with suppress(FileNotFoundError):
        print()


# case: suppressed on a stack
def on_stack() -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(suppress(Exception))  # finds: SW103


# case: a group
def group() -> None:
    try:
        print()
    except* Exception:  # finds: SW103
        print()


# case: a class of that name
def own() -> int:
    class Exception(ValueError):
        pass

    try:
        return 1
    except Exception:
        return 2


# case: a match that always raises
def matching(which: int) -> int:
    try:
        return 1
    except Exception:
        match which:
            case 1:
                raise
            case _:
                raise RuntimeError


# case: a wide one behind narrow ones
def behind() -> int:
    try:
        return 1
    except ValueError:
        return 2
    except Exception:  # finds: SW103
        return 3


# case: cleaned up and raised again within a with
def cleaned() -> int:
    try:
        return 1
    except Exception:
        with open('a'):
            raise


# case: allowed with a reason
def allowed() -> int:
    try:
        return 1
    except Exception:  # seamwise: allow[SW103] a repr must not fail
        return 2


# case: it ends in a call that never returns
def fails(raised: Exception) -> NoReturn:
    raise RuntimeError from raised


def never_back() -> None:
    try:
        print(1)
    except Exception as raised:
        fails(raised)


def leaves() -> None:
    try:
        print(1)
    except Exception:
        sys.exit(1)


# case: it ends in a call that may return
def may_fail(raised: Exception) -> None:
    raise RuntimeError from raised


def may_be_back() -> None:
    try:
        print(1)
    except Exception as raised:  # finds: SW103
        may_fail(raised)


# case: it ends in a block that raises again
class Again:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> NoReturn:
        raise RuntimeError


def block() -> None:
    try:
        print(1)
    except Exception:
        with Again():
            print(2)


# case: it ends in a block that does not
def other_block() -> None:
    try:
        print(1)
    except Exception:  # finds: SW103
        with open('log', 'a') as log:
            log.write('failed')
