"""A planner's answers are remembered: for equal errors only, never shared, never a secret, never for long."""

from seamwise import Category, TaggedError
from seamwise.catalog.tools import ToolTimedOut
from seamwise.seams._public_view import public_view
from seamwise.seams._render_cache import MAX_ENTRIES, RenderCache
from seamwise.seams.planner import ErrorCode, ErrorInfo
from seamwise.seams.planner.on import PlannerArm
from seamwise.seams.planner.tables import TOOLS


class Late(
    TaggedError,
    namespace='test_planner_memory',
    category=Category.TIMEOUT,
    message='{what} is late.',
):
    what: str
    tags: tuple[str, ...] | None = None


def arm() -> PlannerArm[Late]:
    return PlannerArm(ErrorCode.TOOL_TIMEOUT, None, {}, RenderCache())


def test_what_one_reader_changes_no_other_sees() -> None:
    first, second = TOOLS(ToolTimedOut('search', 30.0, 3)), TOOLS(ToolTimedOut('search', 30.0, 3))
    assert first == second
    assert isinstance(first.details, dict)
    first.details['tool_name'] = 'changed'
    assert TOOLS(ToolTimedOut('search', 30.0, 3)) == second
    assert second.origin.error == 'ToolTimedOut'


def test_an_equal_error_is_classified_alike_the_second_time() -> None:
    classify = arm()
    first: ErrorInfo = classify(Late('the train'))
    assert len(classify.known) == 1
    assert classify(Late('the train')) == first
    assert classify(Late('the bus')).message == 'the bus is late.'


def test_a_secret_a_list_and_a_long_text_are_not_kept() -> None:
    classify = arm()
    assert 'hunter2' not in classify(Late('password=hunter2')).message
    classify(Late('the train', ('red',)))
    classify(Late('x' * 201))
    assert len(classify.known) == 0


def test_what_has_no_hash_is_classified_all_the_same() -> None:
    classify = arm()
    wrong: ErrorInfo = classify(Late('the train', ['red']))  # type: ignore[arg-type]  # what a caller without checker may do
    assert wrong.details == {'what': 'the train', 'tags': ['red']}
    assert len(classify.known) == 0


def test_the_memory_does_not_grow_for_ever() -> None:
    classify = arm()
    for number in range(MAX_ENTRIES + 1):
        classify(Late(f'train {number}'))
    assert len(classify.known) == 1


def test_what_was_asked_before_changes_no_spelling() -> None:
    as_float, as_integer = (
        TOOLS(ToolTimedOut('memory', 2.0, 1)),
        TOOLS(ToolTimedOut('memory', 2, 1)),
    )
    assert (repr(as_float.details['timeout']), repr(as_integer.details['timeout'])) == ('2.0', '2')


def test_two_classes_of_one_tag_are_not_taken_for_each_other() -> None:
    class Other(
        TaggedError,
        tag='Late',
        namespace='elsewhere',
        category=Category.TIMEOUT,
        message='{what} comes no more.',
    ):
        what: str
        tags: tuple[str, ...] | None = None

    for _ in range(2):
        assert public_view(Late('the train'))[0] == 'the train is late.'
        assert public_view(Other('the train'))[0] == 'the train comes no more.'
