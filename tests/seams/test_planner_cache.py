"""Cache of the planner seam: equal errors only, no shared details, no secrets, limited size."""

from collections.abc import Iterator

import pytest

from seamwise import Category, TaggedError, message_of
from seamwise.catalog.tools import ToolTimedOut
from seamwise.redaction import configure
from seamwise.seams.planner import ErrorCode, ErrorInfo
from seamwise.seams.planner.on import PlannerArm
from seamwise.seams.planner.tables import TOOLS
from seamwise.seams.rendering.render_cache import MAX_ENTRIES, RenderCache
from seamwise.seams.rendering.views import public_view


class Delayed(
    TaggedError,
    namespace='test_planner_cache',
    category=Category.TIMEOUT,
    message='{what} is late.',
):
    what: str
    tags: tuple[str, ...] | None = None


def timeout_arm() -> PlannerArm[Delayed]:
    return PlannerArm(ErrorCode.TOOL_TIMEOUT, None, {}, RenderCache())


def test_each_caller_receives_its_own_details() -> None:
    first, second = TOOLS(ToolTimedOut('search', 30.0, 3)), TOOLS(ToolTimedOut('search', 30.0, 3))
    assert first == second
    assert isinstance(first.details, dict)
    first.details['tool_name'] = 'changed'
    assert TOOLS(ToolTimedOut('search', 30.0, 3)) == second
    assert second.origin.error == 'ToolTimedOut'


def test_equal_error_is_classified_equally_from_the_cache() -> None:
    classify = timeout_arm()
    first: ErrorInfo = classify(Delayed('the train'))
    assert len(classify.cache) == 1
    assert classify(Delayed('the train')) == first
    assert classify(Delayed('the bus')).message == 'the bus is late.'


def test_secrets_lists_and_long_texts_are_not_cached() -> None:
    classify = timeout_arm()
    assert 'hunter2' not in classify(Delayed('password=hunter2')).message
    classify(Delayed('the train', ('red',)))
    classify(Delayed('x' * 201))
    assert len(classify.cache) == 0


def test_unhashable_error_is_classified_without_the_cache() -> None:
    classify = timeout_arm()
    info: ErrorInfo = classify(Delayed('the train', ['red']))  # type: ignore[arg-type]  # a list is not hashable
    assert info.details == {'what': 'the train', 'tags': ['red']}
    assert len(classify.cache) == 0


def test_cache_has_a_limited_size() -> None:
    classify = timeout_arm()
    for number in range(MAX_ENTRIES + 1):
        classify(Delayed(f'train {number}'))
    assert len(classify.cache) == 1


def test_cache_distinguishes_integers_from_floats() -> None:
    as_float, as_integer = (
        TOOLS(ToolTimedOut('memory', 2.0, 1)),
        TOOLS(ToolTimedOut('memory', 2, 1)),
    )
    assert (repr(as_float.details['timeout']), repr(as_integer.details['timeout'])) == ('2.0', '2')


def test_cache_distinguishes_classes_with_the_same_tag() -> None:
    class DelayedElsewhere(
        TaggedError,
        tag='Delayed',
        namespace='elsewhere',
        category=Category.TIMEOUT,
        message='{what} comes no more.',
    ):
        what: str
        tags: tuple[str, ...] | None = None

    for _ in range(2):
        assert public_view(Delayed('the train'))[0] == 'the train is late.'
        assert public_view(DelayedElsewhere('the train'))[0] == 'the train comes no more.'


@pytest.fixture
def _defaults() -> Iterator[None]:
    yield
    configure()


@pytest.mark.usefixtures('_defaults')
def test_no_cached_output_outlives_the_settings_of_redaction() -> None:
    classify = timeout_arm()
    error = Delayed('iban=DE02')
    first: ErrorInfo = classify(error)
    assert (first.message, public_view(error)[0]) == ('iban=DE02 is late.', 'iban=DE02 is late.')
    configure(also={'iban'})
    second: ErrorInfo = classify(error)
    assert second.message == 'iban=*** is late.'
    assert public_view(error) == ('iban=*** is late.', {'what': 'iban=***', 'tags': None})
    configure()
    assert classify(error) == first
    assert message_of(error) == 'iban=DE02 is late.'
