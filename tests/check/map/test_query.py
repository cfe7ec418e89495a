"""Tests of the look-up of errors and seams by name."""

import pytest

from seamwise import Failure, Success
from seamwise.check.facts import FileFacts
from seamwise.check.map.build import build_graph
from seamwise.check.map.query import find_errors, find_seam
from tests.check.map.files import BUSY, NO_ORDER, SHOP, error_class

GRAPH = build_graph(
    [*SHOP, FileFacts('old', 'old.py', classes=(error_class('old.NoSuchOrder', 1),))]
)


def found_names(name: str) -> list[str]:
    return [error.name for error in find_errors(GRAPH, name).unwrap()]


@pytest.mark.parametrize(
    'name', ['Busy', 'StoreBusy', 'errors.StoreBusy', BUSY, 'busy', 'storebusy']
)
def test_error_is_found_by_tag_class_or_end_of_full_name(name: str) -> None:
    assert found_names(name) == [BUSY]


def test_ambiguous_name_finds_all_errors_and_a_longer_one_finds_one() -> None:
    assert found_names('NoSuchOrder') == ['old.NoSuchOrder', NO_ORDER]
    assert found_names('old.NoSuchOrder') == ['old.NoSuchOrder']


def test_unknown_error_fails_with_similar_names() -> None:
    assert find_errors(GRAPH, 'NoSuchOder').failure()[0] == 'NoSuchOrder'
    assert find_errors(GRAPH, 'zzz') == Failure(())


def test_unknown_seam_fails_with_all_names() -> None:
    assert find_seam(GRAPH, 'HTTP') == Success(GRAPH.seams[0])
    assert find_seam(GRAPH, 'cli') == Failure(('http',))
