"""What a circuit is made with wrongly is said where it is made."""

from collections.abc import Callable

import pytest

from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import Circuit, circuit

make: Callable[..., Circuit] = circuit
"""The same, for what no type checker lets pass."""


@pytest.mark.parametrize('setting', ['open_for', 'probe_timeout', 'slow'])
@pytest.mark.parametrize('wrong', [0, 0.0, -1.0, float('nan'), float('inf')])
def test_a_time_is_more_than_nothing(setting: str, wrong: float) -> None:
    with pytest.raises(ValueError, match=rf'^{setting} must be a finite number, more than 0'):
        make(name='mail', **{setting: wrong})


@pytest.mark.parametrize('setting', ['open_for', 'probe_timeout', 'slow'])
@pytest.mark.parametrize('wrong', [True, '5', b'5', [5]])
def test_a_time_is_a_number_of_seconds(setting: str, wrong: object) -> None:
    with pytest.raises(TypeError, match=f'^{setting} must be a number'):
        make(name='mail', **{setting: wrong})


@pytest.mark.parametrize('setting', ['open_for', 'probe_timeout'])
def test_a_time_that_no_error_can_say_is_a_mistake(setting: str) -> None:
    with pytest.raises(ValueError, match=rf'^{setting} must be .* 1e\+09 at most'):
        make(name='mail', **{setting: 1.1e9})


def test_the_ends_of_what_is_allowed() -> None:
    for seconds in (1e-9, 1e9):
        assert (
            circuit(name='mail', open_for=seconds, probe_timeout=seconds, slow=seconds).state
            == 'closed'
        )
    assert circuit(name='mail', slow=1e12).state == 'closed'


@pytest.mark.parametrize('setting', ['probes', 'successes'])
def test_a_number_of_probes_is_more_than_nothing(setting: str) -> None:
    for wrong in (0, -1):
        with pytest.raises(ValueError, match=f'^{setting} must be 1 or more'):
            make(name='mail', **{setting: wrong})


@pytest.mark.parametrize('setting', ['probes', 'successes'])
@pytest.mark.parametrize('wrong', [True, 1.0, '1', None])
def test_a_number_of_probes_is_a_whole_number(setting: str, wrong: object) -> None:
    with pytest.raises(TypeError, match=f'^{setting} must be a whole number'):
        make(name='mail', **{setting: wrong})


@pytest.mark.parametrize(
    ('given', 'said'),
    [
        ({'trip': 5}, r'^trip must be consecutive\(…\) or ratio\(…\), not 5'),
        ({'trip': consecutive}, r'^trip must be '),
        ({'counts': 5}, r'^counts must be a function'),
        ({'counts': None}, r'^counts must be a function'),
        ({'world': None}, r'^world must be a World, not None'),
        ({'observer': 5}, r'^observer must be a function'),
        ({'name': 5}, r'^name must be a string'),
    ],
)
def test_what_is_of_the_wrong_kind_is_said_where_it_is_given(
    given: dict[str, object], said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        make(**{'name': 'mail', **given})


def test_a_circuit_has_a_name() -> None:
    with pytest.raises(ValueError, match=r'^name must not be empty'):
        circuit(name=' ')
