"""What a word means."""

import pytest

from seamwise import Failure, Success
from seamwise.check.facts import FileFacts
from seamwise.check.map.build import build_graph
from seamwise.check.map.query import errors_named, seam_named
from tests.check.map.files import BUSY, NO_ORDER, SHOP, kind

GRAPH = build_graph([*SHOP, FileFacts('old', 'old.py', classes=(kind('old.NoSuchOrder', 1),))])


def names(word: str) -> list[str]:
    return [one.name for one in errors_named(GRAPH, word).unwrap()]


@pytest.mark.parametrize(
    'word', ['Busy', 'StoreBusy', 'errors.StoreBusy', BUSY, 'busy', 'storebusy']
)
def test_a_tag_a_class_and_the_end_of_a_full_name_will_do(word: str) -> None:
    assert names(word) == [BUSY]


def test_a_name_of_two_classes_means_both_and_more_of_it_means_one() -> None:
    assert names('NoSuchOrder') == ['old.NoSuchOrder', NO_ORDER]
    assert names('old.NoSuchOrder') == ['old.NoSuchOrder']


def test_an_unknown_word_is_answered_with_the_nearest() -> None:
    assert errors_named(GRAPH, 'NoSuchOder').failure()[0] == 'NoSuchOrder'
    assert errors_named(GRAPH, 'zzz') == Failure(())


def test_a_seam_goes_by_its_name_and_an_unknown_one_is_answered_with_all() -> None:
    assert seam_named(GRAPH, 'HTTP') == Success(GRAPH.seams[0])
    assert seam_named(GRAPH, 'cli') == Failure(('http',))
