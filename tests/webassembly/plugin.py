"""Pytest plugin for the tests of the core in Pyodide, which has no processes, threads and sockets.

It skips by name the tests that need them.
"""

import pytest
from hypothesis import settings
from tools.playground.event_loop import install

THREADS = 'threads do not exist in WebAssembly'
LEAKS = 'tests/core/test_scope_leaks.py::'
SCOPE = 'tests/core/test_scope.py::'

SKIPPED = {
    'tests/core/test_call_values.py::test_the_tasks_of_a_call_mask_its_values': THREADS,
    'tests/core/test_call_values.py::test_a_thread_with_the_context_of_a_call': THREADS,
    'tests/core/test_close_matches.py::': 'rapidfuzz has no wheel for WebAssembly',
    'tests/core/test_containers.py::test_a_step_of_bind_is_checked_in_the_development_mode': (
        'processes do not exist in WebAssembly'
    ),
    'tests/core/test_codec.py::test_errors_that_contain_each_other_too_deeply_raise_value_error': (
        'the stack of node, which is larger, decides'
    ),
    'tests/core/test_defects.py::test_a_defect_is_logged_once_if_several_threads': THREADS,
    'tests/core/test_defects.py::test_a_defect_is_logged_once_if_every_layer': THREADS,
    'tests/core/test_defects.py::test_frames_of_anyio_and_trio_are_omitted[trio]': (
        'trio needs sockets'
    ),
    'tests/core/test_pydantic_models.py::test_json_schema_of_a_pydantic_model': (
        'jsonschema-rs has no wheel for WebAssembly'
    ),
    'tests/core/test_redaction.py::test_importing_redaction_loads_no_pattern_modules': (
        'processes do not exist in WebAssembly'
    ),
    'tests/core/test_redaction_rules.py::test_the_check_of_linear_time_detects': (
        'the time of one search is too coarse'
    ),
    'tests/core/test_redaction_settings.py::test_the_settings_of_the_program_apply': THREADS,
    f'{SCOPE}TestNestedCode::test_two_threads_can_run': THREADS,
    f'{SCOPE}TestNestedCode::test_do_ends_its_own_function_from_a_nested_one': THREADS,
    f'{SCOPE}TestNestedCode::test_other_threads_do_not_affect_do': THREADS,
    f'{SCOPE}test_an_ended_function_leaves_no_reference_cycle': THREADS,
    f'{LEAKS}TestLateFailures::test_do_raises_scope_leaked_after_any_end': THREADS,
    f'{LEAKS}TestThreads::test_a_': THREADS,
    f'{LEAKS}TestThreads::test_do_': THREADS,
    f'{LEAKS}TestThreads::test_the_message_names_a_failure': THREADS,
}
"""Reasons by the beginning of the name of a test."""


def pytest_configure() -> None:
    """Select the event loop, and the profile of Hypothesis of `tests/conftest.py`."""
    install()
    settings.register_profile(
        'webassembly', deadline=None, database=None, derandomize=True, max_examples=50
    )
    settings.load_profile('webassembly')


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that cannot run, and fail if a name of the list has no test."""
    unused = {*SKIPPED}
    for item in items:
        for name, reason in SKIPPED.items():
            if item.nodeid.startswith(name):
                unused.discard(name)
                item.add_marker(pytest.mark.skip(reason=reason))
    if unused:
        raise pytest.UsageError(f'No test is named {", ".join(sorted(unused))}.')
