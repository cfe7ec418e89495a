"""A bare `Success` or `Failure` as a step in a list or a dict."""

from collections.abc import Callable, Mapping

from seamwise import Failure, Result, Success
from typing_extensions import TypeAlias

Step: TypeAlias = Callable[[int], Result[int, str]]


def validate(number: int) -> Result[int, str]:
    return Success(number) if number else Failure('zero')


steps: list[Step] = [validate, Success]
named: dict[str, Step] = {'validate': validate, 'accept': Success}
pair: tuple[Step, Step] = (validate, Success)
both: list[Callable[[str], Result[str, str]]] = [Success, Failure]
mapping: Mapping[str, Step] = {'accept': Success}
single: Step = Success
refuse: Callable[[str], Result[int, str]] = Failure
wrong: list[Step] = [Failure]  # want[mypy,pyrefly]: error, a Failure of int
wrongly: Step = Failure  # want[mypy,pyright,pyrefly]: error, a Failure of int
