"""The guidance about the outcomes of a processor: what may be repeated, and what can be sent."""

import asyncio
import json
import logging
from typing import Any

import pytest

from seamwise import Failure, Result, Success
from seamwise.catalog.network import UpstreamFailed
from seamwise.catalog.tools import (
    FileAlreadyExists,
    InvalidResult,
    ResourceExhausted,
    ToolFailed,
    UnknownTool,
)
from seamwise.policies import deadline
from seamwise.seams import model, planner, session
from seamwise.seams.model.tables import NETWORK
from seamwise.seams.planner.tables import NETWORK as PLANNER_NETWORK
from seamwise.seams.session.tables import TOOLS as SESSION_TOOLS
from seamwise.toolhost import Processor, Tool, ToolCall, ToolOutcome, Tools, formats, tool
from tests.toolhost.helpers import error_of

CHECK = 'It may have taken effect: check that before you call it again.'


@tool
async def pay() -> None:
    """Pay, and lose the connection."""
    raise ConnectionResetError('lost')


@tool(is_repeatable=True)
async def look_up() -> None:
    """Look up, and lose the connection."""
    raise ConnectionResetError('lost')


@tool
async def pay_slowly() -> None:
    """Pay slowly."""
    await asyncio.sleep(30)


@tool
async def fill_disk() -> Any:
    """Write something."""
    return Failure(ResourceExhausted('disk'))


@tool
async def divide() -> float:
    """Divide by zero."""
    return 1 / 0


@tool
async def reserve() -> Result[None, FileAlreadyExists]:
    """Refuse a reservation."""
    return Failure(FileAlreadyExists('reserve', 'room-5'))


@tool
async def forward() -> Result[None, UpstreamFailed]:
    """Forward a payment to a service that fails."""
    return Failure(UpstreamFailed('bank', 503, ''))


@tool
async def leave() -> None:
    """End the program."""
    raise SystemExit(2)


CYCLE: list[Any] = []
CYCLE.append(CYCLE)

VALUES = {
    'nan': [1.0, {'a/b': float('nan')}],
    'infinity': float('-inf'),
    'big': 10**5000,
    'object': object(),
    'key': {(1, 2): 3},
    'cycle': CYCLE,
}


@tool
def value(name: str) -> object:
    """Return a value."""
    return VALUES[name]


@tool(name='unchecked', validate=False)
def unchecked_value(name: str) -> object:
    """Return a value."""
    return VALUES[name]


class FakeSession:
    """Session that drops its events."""

    session_id = 's-1'
    locale = 'en'

    def send(self, event: session.ErrorEvent, /) -> None:
        """Drop an event."""


def outcome_of(
    item: Tool[Any], processor: Processor[Any] | None = None, **arguments: object
) -> Any:
    async def run() -> ToolOutcome[Any]:
        async with processor or Processor(item) as active:
            (outcome,) = await active.run({'name': item.name, 'arguments': arguments})
        return outcome

    return asyncio.run(run())


def suggestion_of(outcome: ToolOutcome[Any]) -> str:
    answer = formats.answer(outcome, format='bare')
    assert isinstance(answer, str)
    return str(json.loads(answer)['suggestion'])


class TestToolsThatMustNotRunTwice:
    def test_a_lost_connection_is_checked_before_another_call(self) -> None:
        suggestion = suggestion_of(outcome_of(pay))
        assert suggestion.startswith('The fault is with the machine, not with your call (lost). ')
        assert CHECK in suggestion
        assert 'Try again' not in suggestion

    def test_the_timeout_of_the_processor_is_checked_before_another_call(self) -> None:
        outcome = outcome_of(pay_slowly, Processor(pay_slowly, timeout=0.02))
        assert suggestion_of(outcome).startswith(CHECK)

    def test_the_deadline_of_a_guard_is_checked_before_another_call(self) -> None:
        outcome = outcome_of(pay_slowly, Processor(pay_slowly, guard=deadline(0.02)))
        assert suggestion_of(outcome).startswith(CHECK)

    def test_an_exhausted_machine_is_checked_before_another_call(self) -> None:
        assert suggestion_of(outcome_of(fill_disk)).startswith(CHECK)

    def test_a_tool_that_has_not_begun_can_be_called_again(self) -> None:
        async def queue() -> list[ToolOutcome[Any]]:
            calls = [ToolCall('pay_slowly', {})] * 2
            async with Processor(pay_slowly, concurrency=1, timeout=0.05) as processor:
                return await processor.run(calls)

        begun, waiting = asyncio.run(queue())
        assert (begun.may_have_taken_effect, waiting.may_have_taken_effect) == (True, False)
        assert CHECK not in suggestion_of(waiting)

    def test_a_repeatable_tool_can_be_called_again(self) -> None:
        assert 'Try again once.' in suggestion_of(outcome_of(look_up))

    def test_a_defect_keeps_its_guidance(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.CRITICAL, 'seamwise')
        outcome = outcome_of(divide)
        assert outcome.may_have_taken_effect
        assert suggestion_of(outcome) == (
            f'The fault is with the tool, not with your call. {CHECK} If you cannot, tell the user.'
        )

    def test_a_call_that_the_tool_refused_has_no_effect(self) -> None:
        assert not outcome_of(reserve).may_have_taken_effect

    def test_a_retryable_error_of_the_tool_leaves_the_effect_open(self) -> None:
        outcome = outcome_of(forward)
        assert outcome.may_have_taken_effect
        answer = formats.answer(outcome, model=formats.TOOL_GUIDANCE | NETWORK)
        assert CHECK in str(answer)

    @pytest.mark.parametrize('item', [pay, fill_disk, forward, divide])
    def test_a_planner_does_not_repeat_it(
        self, item: Tool[Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.CRITICAL, 'seamwise')
        info = planner.classify(outcome_of(item), adapter=planner.PLANNER | PLANNER_NETWORK)
        assert info is not None
        assert planner.decide(info, 1, 2) == planner.Stop()

    def test_a_session_and_a_message_do_not_advise_a_retry(self) -> None:
        outcome = outcome_of(pay)
        [event] = session.publish(outcome, FakeSession(), adapter=SESSION_TOOLS)
        assert event.metadata['recovery_strategy'] == 'escalate_to_user'
        message = model.tool_message(outcome, adapter=formats.TOOL_GUIDANCE, call_id='c-1')
        assert CHECK in message.content
        assert 'Try again' not in message.content

    def test_a_session_and_a_message_advise_to_retry_a_repeatable_tool(self) -> None:
        outcome = outcome_of(look_up)
        [event] = session.publish(outcome, FakeSession(), adapter=SESSION_TOOLS)
        assert event.metadata['recovery_strategy'] == 'retry'
        message = model.tool_message(outcome, adapter=formats.TOOL_GUIDANCE, call_id='c-1')
        assert 'Try again once.' in message.content

    def test_a_planner_does_not_repeat_a_late_call(self) -> None:
        outcome = outcome_of(pay_slowly, Processor(pay_slowly, timeout=0.02))
        info = planner.classify(outcome)
        assert info is not None
        assert info.details['may_have_taken_effect'] is True
        assert planner.decide(info, 1, 2) == planner.Stop()

    def test_a_planner_repeats_a_repeatable_tool(self) -> None:
        info = planner.classify(outcome_of(look_up))
        assert info is not None
        assert planner.decide(info, 1, 2) == planner.Wait(1000)


class TestValuesWithoutJson:
    @pytest.mark.parametrize(
        ('name', 'pointer', 'message'),
        [
            ('nan', '/1/a~1b', 'must be a finite number, not nan'),
            ('infinity', '', 'must be a finite number, not -inf'),
            ('big', '', 'must have a JSON form'),
            ('object', '', 'must have a JSON form'),
            ('key', '', 'must have a JSON form'),
            ('cycle', '', 'must have a JSON form'),
        ],
    )
    def test_they_are_invalid_results(self, name: str, pointer: str, message: str) -> None:
        (problem,) = error_of(outcome_of(value, name=name).result, InvalidResult).problems
        assert problem.pointer == pointer
        assert problem.message.startswith(message)

    @pytest.mark.parametrize('name', ['big', 'object', 'key', 'cycle'])
    def test_the_answer_to_an_unchecked_one_is_an_invalid_result(self, name: str) -> None:
        outcome = outcome_of(unchecked_value, name=name)
        assert isinstance(outcome.result, Success)
        for format_ in formats.FORMATS:
            assert 'InvalidResult' in str(formats.answer(outcome, format=format_))

    def test_a_null_is_a_value(self) -> None:
        @tool
        def nothing() -> list[float | None]:
            return [None, 1.5]

        assert outcome_of(nothing).result == Success([None, 1.5])


def test_the_end_of_the_program_in_a_tool_is_a_defect_with_a_reference(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outcome = outcome_of(leave)
    failed = error_of(outcome.result, ToolFailed)
    assert isinstance(failed.defect, SystemExit)
    assert 'err_' in caplog.text
    assert suggestion_of(outcome).startswith('The fault is with the tool, not with your call.')


def test_a_deadline_without_a_name_has_that_of_the_tool_for_a_model() -> None:
    outcome = outcome_of(pay_slowly, Processor(pay_slowly, guard=deadline(0.02)))
    assert 'pay_slowly' in str(formats.answer(outcome))
    assert "'deadline'" not in str(formats.answer(outcome))


class TestToolsInNamespaces:
    @pytest.mark.parametrize(
        'call', [{'name': 'hotel__book', 'arguments': {}}, ToolCall('book', {}, namespace='hotel')]
    )
    def test_guidance_has_the_name_that_the_model_calls(self, call: Any) -> None:
        @tool(namespace='hotel')
        async def book(room: int) -> None:
            """Book a room."""

        async def run() -> ToolOutcome[Any]:
            async with Processor(book) as processor:
                (outcome,) = await processor.run([call] if isinstance(call, ToolCall) else call)
            return outcome

        assert suggestion_of(asyncio.run(run())) == "Call hotel__book again with 'room'."

    def test_a_name_without_its_namespace_is_suggested_with_it(self) -> None:
        @tool(namespace='international_hotels')
        async def book(room: int) -> None:
            """Book a room."""

        error = error_of(Tools([book]).find('book'), UnknownTool)
        assert error.suggestions == ('international_hotels__book',)
