import asyncio
import builtins
import sys
import contextlib
import logging
import queue
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple, NoReturn

from raising_helpers import (
    Transport,
    abort,
    count_all,
    describe,
    give_up,
    give_up_unless_empty,
    raise_any,
    raise_by_another,
    raise_command_error,
    raise_current,
    raise_first,
    raise_group,
    raise_later,
    raise_on_a_branch,
    raise_while_iterated,
    reraise,
    set_by_another,
    set_exception,
)
from seamwise import Category, Failure, Result, Success, TaggedError, report_defect

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
    except Exception:
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
    if str(raised):
        raise SystemExit(1)


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


# case: filters in the other order
def filtered() -> int:
    try:
        return 1
    except Exception as error:
        if not isinstance(error, OSError):
            raise
        return 2


def filtered_by_match() -> int:
    try:
        return 1
    except BaseException as error:
        match error:
            case OSError():
                return 2
            case _:
                raise


# case: converted on a branch
def converted(which: bool) -> int:
    try:
        return 1
    except Exception as error:
        if which:
            raise RuntimeError('wrong') from error
        return 2


# case: another exception is raised on a branch
def other_raised(which: bool) -> int:
    try:
        return 1
    except Exception:  # finds: SW103
        if which:
            raise RuntimeError('wrong') from None
        return 2


# case: an inner handler raises its own exception
def inner_raised() -> int:
    try:
        return 1
    except Exception:  # finds: SW103
        try:
            print()
        except OSError:
            raise
        return 2


# case: passed to a future
def to_future(future: asyncio.Future[int]) -> None:
    try:
        future.set_result(int('1'))
    except BaseException as error:
        future.set_exception(error)


# case: another exception is passed to a future
def other_to_future(future: asyncio.Future[int]) -> None:
    try:
        future.set_result(int('1'))
    except Exception:  # finds: SW103
        future.set_exception(RuntimeError())


# case: kept and raised later
def kept() -> int:
    failed: BaseException | None = None
    try:
        print()
    except BaseException as error:
        failed = error
    print()
    if failed is not None:
        raise failed
    return 1


def collected(names: list[str]) -> None:
    errors: list[Exception] = []
    for name in names:
        try:
            print(name)
        except Exception as error:
            errors.append(error)
    if errors:
        raise ExceptionGroup('some failed', errors)


def first_of(names: list[str]) -> None:
    errors: list[Exception] = []
    for name in names:
        try:
            print(name)
        except Exception as error:
            errors.append(error)
    for error in errors:
        raise error


class Worker:
    def __init__(self) -> None:
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            print()
        except BaseException as error:
            self.error = error

    def join(self) -> None:
        if self.error is not None:
            raise self.error


# case: kept and never raised
def forgotten() -> int:
    failed: Exception | None = None
    try:
        print()
    except Exception as error:  # finds: SW103
        failed = error
    return 1 if failed is None else 2


def counted(names: list[str]) -> int:
    errors: list[Exception] = []
    for name in names:
        try:
            print(name)
        except Exception as error:  # finds: SW103
            errors.append(error)
    return len(errors)


# case: logged
def logged(logger: logging.Logger) -> int:
    try:
        return 1
    except Exception:  # finds: SW103
        logger.exception('failed')
        return 2


def printed() -> int:
    try:
        return 1
    except Exception:  # finds: SW103
        traceback.print_exc()
        return 2


# case: logged and raised again
def logged_again(logger: logging.Logger) -> int:
    try:
        return 1
    except Exception:
        logger.exception('failed')
        raise


# case: a return in finally
def in_finally() -> int:
    try:
        return int('1')
    finally:
        return 2  # finds: SW103


# case: break and continue in finally
def loop_in_finally() -> None:
    while True:
        try:
            print()
        finally:
            break  # finds: SW103
    for _ in range(3):
        try:
            print()
        finally:
            if print() is None:
                continue  # finds: SW103


# case: a loop of its own in finally, and an inner function
def inside_finally() -> int:
    try:
        return int('1')
    finally:
        for number in range(3):
            if number:
                break

        def clean() -> int:
            return 1

        clean()


# case: exceptions of gather that are discarded
async def gathered() -> None:
    await asyncio.gather(asyncio.sleep(1), asyncio.sleep(2), return_exceptions=True)  # finds: SW103


# case: exceptions of gather that are read or raised
async def gathered_and_read() -> list[object]:
    await asyncio.gather(asyncio.sleep(1), return_exceptions=False)
    await asyncio.gather(asyncio.sleep(1))
    results = await asyncio.gather(asyncio.sleep(1), return_exceptions=True)
    return [result for result in results if isinstance(result, Exception)]


# case: the end of cancelled tasks
async def cancelled(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def cancelled_late(numbers: list[int]) -> None:
    tasks = {asyncio.create_task(asyncio.sleep(number)) for number in numbers}
    done, late = await asyncio.wait(tasks, timeout=1)
    for task in late:
        if not task.done():
            task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    group = [*done, *late]
    await asyncio.gather(*group, return_exceptions=True)


class Running:
    def __init__(self, tasks: dict[str, asyncio.Task[None]]) -> None:
        self.tasks = tasks

    async def stop(self) -> None:
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)


# case: others than the cancelled tasks
async def not_cancelled(tasks: list[asyncio.Task[None]], others: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)  # finds: SW103
    try:
        await others[0]
    except (Exception, asyncio.CancelledError):  # finds: SW103
        print('other')
    try:
        await tasks[0]
    except asyncio.CancelledError:
        print('cancelled')


# case: passed to a helper that passes it on, reports it, or ignores it
class Writer:
    def write(self, future: asyncio.Future[int]) -> None:
        try:
            future.set_result(1)
        except Exception as error:
            self._fail(future, error)

    def write_more(self, future: asyncio.Future[int]) -> None:
        try:
            future.set_result(1)
        except Exception as error:
            _report(error, 'write')

    def write_most(self, future: asyncio.Future[int]) -> None:
        try:
            future.set_result(1)
        except Exception as error:  # finds: SW103
            self._ignore(future, error)

    def write_all(self, future: asyncio.Future[int]) -> None:
        try:
            future.set_result(1)
        except BaseException as error:  # finds: SW103
            _report(error, 'write')

    def _fail(self, future: asyncio.Future[int], error: Exception) -> None:
        future.set_exception(error)

    def _ignore(self, future: asyncio.Future[int], error: Exception) -> None:
        print(error)


def _report(error: BaseException, name: str) -> None:
    report_defect(error)  # type: ignore[arg-type]


# case: kept in a name of an outer function that raises it, or does not
def run_inside(step: int) -> None:
    failure: Exception | None = None

    def attempt_once() -> None:
        nonlocal failure
        try:
            print(step)
        except Exception as error:
            failure = error

    attempt_once()
    if failure is not None:
        raise failure


def run_and_forget(step: int) -> None:
    failure: Exception | None = None

    def attempt_once() -> None:
        nonlocal failure
        try:
            print(step)
        except Exception as error:  # finds: SW103
            failure = error

    attempt_once()
    print(failure)


def run_and_hide(step: int) -> None:
    failure = ValueError(step)

    def attempt_once() -> None:
        try:
            print(step)
        except Exception as error:  # finds: SW103
            failure = error
            print(failure)

    attempt_once()
    raise failure


# case: the current exception, without its name
class State:
    def set_exception(self, information: object) -> None: ...


def passed_without_a_name(state: State) -> None:
    try:
        print(1)
    except BaseException:
        state.set_exception(sys.exc_info())


def printed_without_a_name() -> None:
    try:
        print(1)
    except BaseException:  # finds: SW103
        print(sys.exc_info())


# case: a helper that raises the exception again, or has a handler of its own
class Application:
    def dispatch(self) -> str:
        try:
            return 'ok'
        except Exception as error:
            return self.answer(error)

    def answer(self, error: Exception) -> str:
        if isinstance(error, OSError):
            return 'later'
        raise

    def dispatch_quietly(self) -> str:
        try:
            return 'ok'
        except Exception as error:  # finds: SW103
            return self.answer_always(error)

    def answer_always(self, error: Exception) -> str:
        try:
            return f'failed: {error}'
        except UnicodeError:
            raise


# case: sent to another task, or made the cause of an exception that is kept
async def sent(queue: asyncio.Queue[object]) -> None:
    try:
        print(1)
    except Exception as error:
        await queue.put(error)


async def sent_as_text(queue: asyncio.Queue[object]) -> None:
    try:
        print(1)
    except Exception as error:  # finds: SW103
        await queue.put(str(error))


class Handshake:
    failure: Exception | None = None

    def read(self) -> None:
        try:
            print(1)
        except Exception as error:
            self.failure = ValueError('no answer')
            self.failure.__cause__ = error


def cause_of_a_failure() -> object:
    try:
        return 1
    except Exception as error:  # finds: SW103
        failure = ValueError('no answer')
        failure.__cause__ = error
        return failure


def causes_of_a_group(steps: list[int]) -> None:
    failures: list[Exception] = []
    for step in steps:
        try:
            print(step)
        except Exception as error:
            failure = ValueError(step)
            failure.__cause__ = error
            failures.append(failure)
    raise ExceptionGroup('steps', failures)


def cause_of_an_exception_of_a_future(future: asyncio.Future[int]) -> None:
    try:
        print(1)
    except Exception as error:
        failure = ValueError('no answer')
        failure.__cause__ = error
        future.set_exception(failure)


class Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


# case: sent to another task in an object
def sent_in_an_object(jobs: queue.Queue[object]) -> None:
    try:
        print(1)
    except BaseException as error:
        jobs.put(Failed(error))


def sent_in_a_dict(jobs: queue.Queue[object]) -> None:
    try:
        print(1)
    except BaseException as error:
        jobs.put({'job': 1, 'error': error})


# case: only the text is sent
def sent_as_a_text(jobs: queue.Queue[object]) -> None:
    try:
        print(1)
    except Exception as error:  # finds: SW103
        jobs.put(str(error))


# case: returned or yielded
def returned() -> tuple[int, Exception | None]:
    try:
        return 1, None
    except Exception as error:
        return 0, error


def yielded() -> Iterator[Exception]:
    try:
        print(1)
    except Exception as error:
        yield error


# case: only the text is returned
def returned_as_a_text() -> str:
    try:
        return ''
    except Exception as error:  # finds: SW103
        return str(error)


# case: added to a list that is raised as a group
def added() -> None:
    errors: list[Exception] = []
    for name in 'ab':
        try:
            print(name)
        except Exception as error:
            errors += [error]
    if errors:
        raise ExceptionGroup('names', errors)


# case: kept, and the cause of another exception later
def kept_as_a_cause() -> None:
    failure: Exception | None = None
    try:
        print(1)
    except Exception as error:
        failure = error
    if failure is not None:
        raise RuntimeError('failed') from failure


# case: reported by the hooks of the interpreter or a loop
def hooked() -> None:
    try:
        print(1)
    except Exception:
        sys.excepthook(*sys.exc_info())


def hooked_loop(loop: asyncio.AbstractEventLoop) -> None:
    try:
        print(1)
    except Exception as error:
        loop.call_exception_handler({'message': 'failed', 'exception': error})


class Job:
    def __init__(self) -> None:
        self.failure: Exception | None = None
        self._failure: Exception | None = None


# case: stored in an attribute that other code can read, or nobody reads
def stored(job: Job) -> None:
    try:
        print(1)
    except Exception as error:
        job.failure = error


class Silent:
    def __init__(self) -> None:
        self._last: Exception | None = None
        self.text = ''

    def run(self) -> None:
        try:
            print(1)
        except Exception as error:  # finds: SW103
            self._last = error

    def describe(self) -> None:
        try:
            print(1)
        except Exception as error:  # finds: SW103
            self.text = str(error)


# case: passed to a method of another class that keeps it or ignores it
class Router:
    def __init__(self) -> None:
        self._failure: BaseException | None = None

    def finish(self, error: BaseException) -> None:
        self._failure = error

    def forget(self, error: BaseException) -> None:
        print(len(error.args))

    def pop(self) -> None:
        if self._failure is not None:
            raise self._failure


class Reader:
    def __init__(self, router: Router) -> None:
        self.router = router

    def run(self) -> None:
        try:
            print(1)
        except Exception as error:
            self.router.finish(error)

    def run_again(self) -> None:
        try:
            print(1)
        except Exception as error:  # finds: SW103
            self.router.forget(error)


class First:
    def give(self, error: Exception) -> None:
        raise error


class Second:
    def give(self, error: Exception) -> None:
        print(len(error.args))


# case: passed to one of two methods of the same name
def ambiguous(target: Second) -> None:
    try:
        print(1)
    except Exception as error:  # finds: SW103
        target.give(error)


# case: passed to a function of another file that raises it on every path
def raised_elsewhere() -> None:
    try:
        print(1)
    except Exception as error:
        raise_command_error('run', error)


def raised_elsewhere_with_its_traceback() -> None:
    try:
        print(1)
    except Exception:
        reraise(ValueError, ValueError('failed'), sys.exc_info()[2])


def raised_two_files_away(transport: Transport) -> int:
    try:
        return 1
    except Exception as error:
        raise_by_another(error)
    try:
        return 2
    except Exception as error:
        transport.fail(error)
    return 3


# case: it ends in a function of another file that never returns
def ends_elsewhere(which: bool) -> None:
    try:
        print(1)
    except Exception:
        if which:
            give_up('run')
        else:
            abort()


# case: it ends in a function of another file that may return
def may_end_elsewhere(which: bool) -> None:
    try:
        print(1)
    except Exception:  # finds: SW103
        if which:
            give_up_unless_empty('run')
        else:
            abort()


def may_continue_elsewhere(which: bool) -> None:
    try:
        print(1)
    except Exception:  # finds: SW103
        if which:
            abort()


# case: passed to a function of another file that raises it on a branch, or gives it to a future
def raised_elsewhere_on_a_branch() -> int:
    try:
        return 1
    except Exception as error:
        raise_on_a_branch(error, strict=True)
    try:
        return 2
    except Exception:
        raise_current()
    return 3


def given_to_a_future_elsewhere(future: asyncio.Future[int]) -> None:
    try:
        print(1)
    except BaseException as error:
        set_exception(future, error)
    try:
        print(2)
    except BaseException as error:
        set_by_another(error=error, future=future)


# case: passed to a function of another file that does nothing with it
def described_elsewhere() -> str:
    try:
        return 'a'
    except Exception as error:  # finds: SW103
        return describe(error)


def raised_by_nobody(error: Exception) -> int:
    try:
        return 1
    except Exception as failure:  # finds: SW103
        raise_on_a_branch(error)
        print(failure)
    return 2


def not_implemented_elsewhere(transport: Transport) -> None:
    try:
        print(1)
    except Exception as error:  # finds: SW103
        transport.close(error)


def never_iterated() -> None:
    try:
        print(1)
    except Exception as error:  # finds: SW103
        raise_while_iterated(error)


# case: passed to a coroutine function of another file, with and without await
async def awaited_elsewhere() -> int:
    try:
        return 1
    except Exception as error:
        await raise_later(error)
    return 2


async def never_awaited() -> int:
    try:
        return 1
    except Exception as error:  # finds: SW103
        raise_later(error)
    return 2


# case: a nested helper raises the exception that it gets, or only prints it
def raised_by_nested(which: bool) -> int:
    def nested(error: Exception) -> None:
        if which:
            raise error

    try:
        return 1
    except Exception as error:
        nested(error)
    return 2


def printed_by_nested() -> int:
    def nested(error: Exception) -> None:
        print(error)

    try:
        return 1
    except Exception as error:  # finds: SW103
        nested(error)
    return 2


# case: a helper without arguments raises the current exception
def raise_if_strict() -> None:
    if print() is None:
        raise


def raised_without_arguments() -> int:
    try:
        return 1
    except Exception:
        raise_if_strict()
    return 2


# case: a helper without arguments has a handler of its own
def raise_its_own() -> None:
    try:
        print()
    except OSError:
        raise


def not_raised_without_arguments() -> int:
    try:
        return 1
    except Exception:  # finds: SW103
        raise_its_own()
    return 2


# case: a local helper passes the exception to a second one
def first_helper(error: Exception) -> None:
    second_helper(error)


def second_helper(error: Exception) -> None:
    raise error


def raised_by_the_second() -> int:
    try:
        return 1
    except Exception as error:
        first_helper(error)
    return 2


# case: the current exception is kept in a name, and raised later
def kept_information() -> int:
    information = None
    try:
        print(1)
    except Exception:
        information = sys.exc_info()
    if information is not None:
        reraise(*information)
    return 1


def kept_information_by_index() -> int:
    information = None
    try:
        print(1)
    except BaseException:
        information = sys.exc_info()
    if information is not None and information[1] is not None:
        raise information[1]
    return 1


def kept_information_in_parts() -> int:
    value = None
    try:
        print(1)
    except BaseException:
        _, value, _ = sys.exc_info()
    if value is not None:
        raise value
    return 1


# case: the current exception is kept in a name, and printed later
def printed_information() -> int:
    information = None
    try:
        print(1)
    except Exception:  # finds: SW103
        information = sys.exc_info()
    print(information)
    return 1


def printed_traceback() -> int:
    try:
        print(1)
    except Exception:  # finds: SW103
        reported = sys.exc_info()[2]
        return reported is None
    return 1


# case: kept in a public attribute or a list in one
class Results:
    def __init__(self) -> None:
        self.errors: list[object] = []
        self.by_name: dict[str, object] = {}
        self.information: object = None
        self._errors: list[object] = []

    def run(self) -> None:
        try:
            print(1)
        except BaseException:
            self.errors.append(sys.exc_info())
        try:
            print(2)
        except BaseException:
            self.information = sys.exc_info()
        try:
            print(3)
        except Exception as error:
            self.by_name['run'] = error

    def run_silently(self) -> None:
        try:
            print(1)
        except Exception:  # finds: SW103
            self._errors.append(sys.exc_info())

    def run_with_texts(self) -> None:
        try:
            print(1)
        except Exception as error:  # finds: SW103
            self.errors.append(str(error))
        try:
            print(1)
        except Exception as error:  # finds: SW103
            self.errors.append(describe(error))


# case: returned in an object or a collection
class Message(NamedTuple):
    kind: str
    data: object


def returned_in_an_object() -> Message | Failed:
    try:
        return Message('text', '')
    except Exception as error:
        return Message('error', error)
    except BaseException as error:
        return Failed(error=error)


def yielded_in_an_object() -> Iterator[Message]:
    try:
        print(1)
    except Exception as error:
        yield Message('error', error)


def returned_behind_a_name(name: str) -> tuple[str, object]:
    try:
        response: object = print(name)
    except Exception as error:
        response = error
    return name, response


def returned_in_a_list(names: list[str]) -> list[tuple[str, object]]:
    responses: list[tuple[str, object]] = []
    for name in names:
        try:
            responses.append((name, print(name)))
        except Exception as error:
            responses.append((name, error))
    return responses


def returned_in_a_dict(names: list[str]) -> dict[str, object]:
    responses: dict[str, object] = {}
    for name in names:
        try:
            responses[name] = print(name)
        except Exception as error:
            responses[name] = error
    return responses


# case: only its text is returned, in an object or a collection
def returned_as_a_text_in_an_object() -> Message:
    try:
        return Message('text', '')
    except Exception as error:  # finds: SW103
        return Message('error', str(error))


def returned_as_a_text_behind_a_name() -> tuple[str, str]:
    try:
        response = 'a'
    except Exception as error:  # finds: SW103
        response = str(error)
    return 'name', response


def returned_as_texts(names: list[str]) -> list[str]:
    responses: list[str] = []
    for name in names:
        try:
            print(name)
        except Exception as error:  # finds: SW103
            responses.append(f'{name}: {error}')
    return responses


def returned_as_a_number(names: list[str]) -> int:
    failures: list[Exception] = []
    for name in names:
        try:
            print(name)
        except Exception as error:  # finds: SW103
            failures.append(error)
    return len(failures)


# case: returned as a Failure
def returned_as_a_failure() -> Result[int, Exception]:
    try:
        return Success(1)
    except Exception as error:  # finds: SW103
        return Failure(error)


def returned_as_a_failure_with_its_text() -> Result[int, str]:
    try:
        return Success(1)
    except Exception as error:  # finds: SW103
        return Failure(str(error))


# case: kept in a list of the outer function, which returns it
def collected_inside(names: list[str]) -> list[Exception]:
    failures: list[Exception] = []

    def run(name: str) -> None:
        try:
            print(name)
        except Exception as error:
            failures.append(error)

    for name in names:
        run(name)
    return failures


def kept_at_an_index(name: str) -> list[Exception | None]:
    failure: list[Exception | None] = [None]

    def run() -> None:
        try:
            print(name)
        except Exception as error:
            failure[0] = error

    run()
    return failure


# case: kept in a list of the outer function, which only counts it
def counted_inside(names: list[str]) -> int:
    failures: list[Exception] = []

    def run(name: str) -> None:
        try:
            print(name)
        except Exception as error:  # finds: SW103
            failures.append(error)

    for name in names:
        run(name)
    return len(failures)


# case: given to a function that an event loop calls
def scheduled(loop: asyncio.AbstractEventLoop, future: 'asyncio.Future[int]') -> None:
    try:
        print(1)
    except Exception as error:
        loop.call_soon_threadsafe(future.set_exception, error)


def scheduled_by_a_function(
    loop: asyncio.AbstractEventLoop, future: 'asyncio.Future[int]'
) -> None:
    def fail(exception: Exception) -> None:
        if not future.done():
            future.set_exception(exception)

    try:
        print(1)
    except Exception as error:
        loop.call_soon(fail, error)
    try:
        print(1)
    except Exception as error:
        loop.call_soon(set_by_another, future, error)


# case: only its text is given to an event loop, or to a function that does not pass it on
def scheduled_text(loop: asyncio.AbstractEventLoop) -> None:
    try:
        print(1)
    except Exception as error:  # finds: SW103
        loop.call_soon(print, error)
    try:
        print(1)
    except Exception as error:  # finds: SW103
        loop.call_soon(describe, error)


# case: kept in a private attribute, which a method returns
class WithFailure:
    def __init__(self) -> None:
        self._failure: Exception | None = None
        self._counted: Exception | None = None

    def run(self) -> None:
        try:
            print(1)
        except Exception as error:
            self._failure = error
        try:
            print(1)
        except Exception as error:  # finds: SW103
            self._counted = error

    @property
    def failure(self) -> Exception | None:
        return self._failure

    def text(self) -> str:
        return str(self._counted)


# case: collected, and raised by a function that gets the collection
def first_local(errors: list[Exception]) -> None:
    if errors:
        raise errors[0]


def group_local(errors: list[Exception]) -> None:
    if errors:
        raise ExceptionGroup('several errors', [*errors])


def any_local(*errors: Exception | None) -> None:
    for error in errors:
        if error is not None:
            raise error


def collected_for_the_first(names: list[str]) -> None:
    errors: list[Exception] = []
    others: list[Exception] = []
    for name in names:
        try:
            print(name)
        except Exception as error:
            errors.append(error)
        try:
            print(name)
        except Exception as error:
            others.append(error)
    first_local(errors)
    raise_first(others)


def collected_for_a_group(names: list[str]) -> None:
    errors: list[Exception] = []
    others: list[Exception] = []
    for name in names:
        try:
            print(name)
        except Exception as error:
            errors.append(error)
        try:
            print(name)
        except Exception as error:
            others.append(error)
    group_local(errors)
    raise_group(others)


def kept_for_any() -> None:
    problem = other = None
    try:
        print(1)
    except Exception as error:
        problem = error
    try:
        print(1)
    except Exception as error:
        other = error
    any_local(problem)
    raise_any(None, other)


# case: collected with other values, and raised in a loop
def collected_with_names(names: list[str]) -> None:
    errors: list[tuple[str, Exception]] = []
    for name in names:
        try:
            print(name)
        except Exception as error:
            errors.append((name, error))
    for name, problem in errors:
        print(name)
        raise problem


def collected_by_name(names: list[str]) -> None:
    errors: dict[str, Exception] = {}
    for name in names:
        try:
            print(name)
        except Exception as error:
            errors[name] = error
    for name, problem in errors.items():
        print(name)
        raise problem


# case: collected for a function that only counts and prints them
def collected_for_a_count(names: list[str]) -> None:
    errors: list[Exception] = []
    for name in names:
        try:
            print(name)
        except Exception as error:  # finds: SW103
            errors.append(error)
    count_all(errors)


def collected_for_a_text(names: list[str]) -> None:
    errors: list[tuple[str, Exception]] = []
    for name in names:
        try:
            print(name)
        except Exception as error:  # finds: SW103
            errors.append((name, error))
    for name, problem in errors:
        print(name, problem)


# case: the class or the traceback of the exception
def class_of_the_exception() -> object:
    try:
        return 1
    except Exception:  # finds: SW103
        return sys.exc_info()[0]


# case: kept in an object that is returned or stored
def returned_later_in_an_object() -> Message:
    message = Message('text', '')
    try:
        print(1)
    except Exception as error:
        message = Message('error', error)
    return message


class WithMessage:
    def run(self) -> None:
        try:
            print(1)
        except Exception as error:
            self.message: Message = Message('error', error)


# case: kept in an object that is only printed, or without the exception itself
def printed_in_an_object() -> None:
    try:
        print(1)
    except Exception as error:  # finds: SW103
        message = Message('error', error)
        print(message.kind)


def returned_later_as_a_text() -> Message:
    message = Message('text', '')
    try:
        print(1)
    except Exception as error:  # finds: SW103
        message = Message('error', str(error))
    return message


# case: the cause of another exception that is raised later
def cause_of_the_last(names: list[str]) -> None:
    problem: RuntimeError | None = None
    for name in names:
        try:
            print(name)
        except Exception as error:
            problem = RuntimeError(name)
            problem.__cause__ = error
    if problem is not None:
        raise problem


# case: the cause of another exception that is never raised
def cause_of_none(names: list[str]) -> None:
    for name in names:
        try:
            print(name)
        except Exception as error:  # finds: SW103
            problem = RuntimeError(name)
            problem.__cause__ = error
            print(problem)


# case: the clean-up of a handler that raises its exception again
def cleaned_up(text: str, close: Callable[[], None]) -> int:
    try:
        return int(text)
    except BaseException:
        print('failed')
        try:
            close()
        except BaseException:
            pass
        with suppress(Exception):
            close()
        raise


# case: the clean-up of a handler that raises another exception, returns, or leaves it
def cleaned_up_and_more(text: str, close: Callable[[], None]) -> int:
    try:
        return int(text)
    except ValueError:
        try:
            close()
        except Exception:  # finds: SW103
            pass
        raise LookupError(text) from None
    except LookupError:
        try:
            close()
        except Exception:  # finds: SW103
            return 1
        raise
    except OSError:
        try:
            close()
        except Exception:  # finds: SW103
            pass
    return 2


# case: every exception becomes an error, which the only caller raises as before
class Unusable(TaggedError, category=Category.VALIDATION, message='unusable'):
    def exception(self) -> LookupError:
        return LookupError(str(self))


def usable(text: str) -> Result[int, Unusable]:
    try:
        return Success(int(text))
    except Exception:
        return Failure(Unusable())


def usable_or_raise(text: str) -> int:
    match usable(text):
        case Success(value):
            return value
        case Failure(error):
            raise error.exception()


# case: every exception becomes an error, which another caller shows
def usable_twice(text: str) -> Result[int, Unusable]:
    try:
        return Success(int(text))
    except Exception:  # finds: SW103
        return Failure(Unusable())


def usable_twice_or_raise(text: str) -> int:
    match usable_twice(text):
        case Success(value):
            return value
        case Failure(error):
            raise error.exception()


def usable_or_zero(text: str) -> int:
    return usable_twice(text).value_or(0)
