"""Validation of the options of a circuit."""

from collections.abc import Callable

import pytest

from seamwise.policies._parts.trip_conditions import consecutive
from seamwise.policies.circuit import Circuit, circuit

# Accepts arguments that a type checker would reject.
untyped_circuit: Callable[..., Circuit] = circuit


@pytest.mark.parametrize('option', ['open_for', 'probe_timeout', 'slow'])
@pytest.mark.parametrize('value', [0, 0.0, -1.0, float('nan'), float('inf')])
def test_time_must_be_positive_and_finite(option: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf'^{option} must be a finite number, more than 0'):
        untyped_circuit(name='mail', **{option: value})


@pytest.mark.parametrize('option', ['open_for', 'probe_timeout', 'slow'])
@pytest.mark.parametrize('value', [True, '5', b'5', [5]])
def test_time_must_be_a_number(option: str, value: object) -> None:
    with pytest.raises(TypeError, match=f'^{option} must be a number'):
        untyped_circuit(name='mail', **{option: value})


@pytest.mark.parametrize('option', ['open_for', 'probe_timeout'])
def test_time_must_not_exceed_the_longest_delay_of_an_error(option: str) -> None:
    with pytest.raises(ValueError, match=rf'^{option} must be .* 1e\+09 at most'):
        untyped_circuit(name='mail', **{option: 1.1e9})


def test_options_at_their_bounds_are_accepted() -> None:
    for seconds in (1e-9, 1e9):
        assert (
            circuit(name='mail', open_for=seconds, probe_timeout=seconds, slow=seconds).state
            == 'closed'
        )
    assert circuit(name='mail', slow=1e12).state == 'closed'


@pytest.mark.parametrize('option', ['probes', 'successes'])
def test_number_of_probes_must_be_positive(option: str) -> None:
    for value in (0, -1):
        with pytest.raises(ValueError, match=f'^{option} must be 1 or more'):
            untyped_circuit(name='mail', **{option: value})


@pytest.mark.parametrize('option', ['probes', 'successes'])
@pytest.mark.parametrize('value', [True, 1.0, '1', None])
def test_number_of_probes_must_be_an_integer(option: str, value: object) -> None:
    with pytest.raises(TypeError, match=f'^{option} must be a whole number'):
        untyped_circuit(name='mail', **{option: value})


@pytest.mark.parametrize(
    ('options', 'message'),
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
def test_option_of_the_wrong_type_is_a_type_error(options: dict[str, object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        untyped_circuit(**{'name': 'mail', **options})


def test_name_must_not_be_blank() -> None:
    with pytest.raises(ValueError, match=r'^name must say what is guarded'):
        circuit(name=' ')
