import asyncio
import json
import logging
import queue
import traceback
from pathlib import Path

from seamwise import Category, Cause, Do, Failure, Result, Success, TaggedError, attempt, fallible, when


class Bad(TaggedError, category=Category.VALIDATION, message='bad'):
    pass


class Unreadable(TaggedError, category=Category.STORAGE, message='unreadable'):
    cause: Cause | None = None


class NoSettings(TaggedError, category=Category.STORAGE, message='no settings in {path}'):
    path: str
    cause: Cause | None = None


class NotJson(TaggedError, category=Category.VALIDATION, message='{text} is not JSON'):
    text: str


class Wrong(TaggedError, category=Category.VALIDATION, message='wrong: {problem}'):
    problem: str
    line: int = 0


logger = logging.getLogger(__name__)


# case: an empty cause
def empty(text: str) -> Result[object, Unreadable]:
    try:
        return Success(json.loads(text))
    except ValueError:
        return Failure(Unreadable())  # finds: SW118


# case: an error without arguments
def bare(text: str) -> Result[object, Bad]:
    try:
        return Success(json.loads(text))
    except ValueError:
        return Failure(Bad())  # finds: SW118


# case: a name that is never used
def unused(text: str) -> Result[object, Unreadable]:
    try:
        return Success(json.loads(text))
    except ValueError as error:
        logger.info('not read')
        return Failure(Unreadable())  # finds: SW118


# case: other arguments, and an empty cause
def other_arguments(path: str) -> Result[str, NoSettings]:
    try:
        return Success(Path(path).read_text())
    except OSError:
        return Failure(NoSettings(path))  # finds: SW118


# case: on a branch
def branch(text: str) -> Result[object, Bad]:
    try:
        return Success(json.loads(text))
    except (ValueError, RuntimeError):
        if text:
            return Failure(Bad())  # finds: SW118
        return Success(None)


# case: async
async def later(path: str) -> Result[str, Unreadable]:
    try:
        return Success(await asyncio.to_thread(Path(path).read_text))
    except (OSError, UnicodeDecodeError):
        return Failure(Unreadable())  # finds: SW118


# case: an inner handler
def inner(text: str) -> Result[object, Bad | Unreadable]:
    try:
        return Success(json.loads(text))
    except ValueError:
        try:
            return Success(int(text))
        except TypeError:
            return Failure(Unreadable())  # finds: SW118


# case: the cause is passed by keyword
def by_keyword(path: str) -> Result[str, NoSettings]:
    try:
        return Success(Path(path).read_text())
    except OSError as error:
        return Failure(NoSettings(path, cause=error))


# case: the cause is passed by position
def by_position(path: str) -> Result[str, NoSettings]:
    try:
        return Success(Path(path).read_text())
    except OSError as problem:
        return Failure(NoSettings(path, problem))


# case: the text of the exception
def as_text(text: str) -> Result[object, Wrong]:
    try:
        return Success(json.loads(text))
    except json.JSONDecodeError as error:
        return Failure(Wrong(error.msg, error.lineno))


# case: other arguments, and no cause
def value_only(text: str) -> Result[object, NotJson]:
    try:
        return Success(json.loads(text))
    except ValueError:
        return Failure(NotJson(text))


# case: logged with the traceback
def logged(text: str) -> Result[object, Unreadable]:
    try:
        return Success(json.loads(text))
    except ValueError:
        logger.exception('not read')
        return Failure(Unreadable())


# case: logged with exc_info, or printed
def printed(text: str) -> Result[object, Unreadable]:
    try:
        return Success(json.loads(text))
    except ValueError:
        if text:
            logger.warning('not read', exc_info=True)
        else:
            traceback.print_exc()
        return Failure(Unreadable())


# case: raised again on a branch
def raised(text: str) -> Result[object, Bad]:
    try:
        return Success(json.loads(text))
    except ValueError:
        if not text:
            raise
        return Failure(Bad())


# case: a lookup
def lookup(names: dict[str, int], name: str) -> Result[int, Bad]:
    try:
        return Success(names[name])
    except KeyError:
        return Failure(Bad())


# case: an empty queue, the end of an iterator, or a timeout
async def ended(items: 'queue.Queue[int]', others: 'asyncio.Queue[int]') -> Result[int, Bad]:
    try:
        return Success(items.get_nowait())
    except queue.Empty:
        pass
    try:
        return Success(await asyncio.wait_for(others.get(), 1))
    except asyncio.TimeoutError:
        return Failure(Bad())


# case: a missing file
def missing(path: str) -> Result[str, Bad]:
    try:
        return Success(Path(path).read_text())
    except FileNotFoundError:
        return Failure(Bad())


# case: a subclass of KeyError
class NoKey(KeyError):
    pass


def by_subclass(names: dict[str, int], name: str) -> Result[int, Bad]:
    try:
        return Success(names[name])
    except (NoKey, IndexError):
        return Failure(Bad())


# case: a failure after the handler
def after(text: str) -> Result[object, Bad]:
    try:
        return Success(json.loads(text))
    except ValueError:
        logger.info('not read')
    return Failure(Bad())


# case: a success
def default(text: str) -> Result[object, Bad]:
    try:
        return Success(json.loads(text))
    except ValueError:
        return Success(None)


# case: a function that uses the exception later
def used_later(text: str) -> Result[object, Unreadable]:
    try:
        return Success(json.loads(text))
    except ValueError as error:
        message = str(error)
        logger.info(lambda: message)
        return Failure(Unreadable())


# case: an inner function returns the failure
def inner_function(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:

        def fail() -> Result[int, Bad]:
            return Failure(Bad())

        return fail


# case: a failure in a variable
def variable(text: str) -> Result[object, Unreadable]:
    result: Result[object, Unreadable]
    try:
        result = Success(json.loads(text))
    except ValueError:
        result = Failure(Unreadable())  # finds: SW118
    return result


# case: an error in a variable
def error_first(text: str) -> Result[object, Unreadable]:
    try:
        value = json.loads(text)
    except ValueError:
        problem = Unreadable()  # finds: SW118
        return Failure(problem)
    return Success(value)


# case: an error in a variable, with its cause
def error_with_cause(text: str) -> Result[object, Unreadable]:
    try:
        value = json.loads(text)
    except ValueError as error:
        problem = Unreadable(error)
        return Failure(problem)
    return Success(value)


# case: one of two values
def either(text: str, default: bool) -> Result[object, Unreadable]:
    try:
        return Success(json.loads(text))
    except ValueError:
        return Success(None) if default else Failure(Unreadable())  # finds: SW118


# case: in direct style
@fallible
def direct(do: Do[Unreadable], text: str) -> int:
    try:
        return int(text)
    except ValueError:
        do.fail(Unreadable())  # finds: SW118


# case: in direct style, with its cause
@fallible
def direct_with_cause(do: Do[Unreadable], text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        do.fail(Unreadable(cause=error))


# case: a group of exceptions
def group(text: str) -> Result[object, Unreadable]:
    result: Result[object, Unreadable] = Success(None)
    try:
        json.loads(text)
    except* ValueError:
        result = Failure(Unreadable())  # finds: SW118
    return result


# case: a conversion that ignores the exception
def converted(text: str) -> Result[object, Unreadable]:
    rules = when(ValueError).becomes(lambda _: Unreadable())  # finds: SW118
    return attempt(lambda: json.loads(text), rules)


# case: conversions that keep the exception, or whose exception says everything
def conversions(text: str) -> Result[object, Unreadable | Bad]:
    rules = (
        when(ValueError).becomes(lambda error: Unreadable(cause=error))
        | when(KeyError).becomes(lambda _: Unreadable())
        | when(OSError).becomes(lambda _: Bad())
    )
    return attempt(lambda: json.loads(text), rules)


# case: errors that are only recorded
def recorded(text: str, problems: list[Unreadable]) -> Result[object, Bad]:
    try:
        return Success(json.loads(text))
    except ValueError:
        problems.append(Unreadable())
        return Success(None)


# case: an empty queue behind an alias
def drained(jobs: 'queue.SimpleQueue[str]') -> Result[str, Unreadable]:
    try:
        return Success(jobs.get_nowait())
    except queue.Empty:
        return Failure(Unreadable())
