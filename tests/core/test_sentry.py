"""Event processor for Sentry: one event for each defect, without secrets."""

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import pytest
import sentry_sdk
import sentry_sdk.scope
from sentry_sdk.integrations.logging import LoggingIntegration
from typing_extensions import override

from seamwise import report_defect
from seamwise._defects.sentry import register
from tests.sentry_events import sentry_events

PLANTED = 'FAKE-hunter2'
URL = f'https://ann:{PLANTED}@bank.example'


def only_integrations(*integrations: Any) -> AbstractContextManager[list[Any]]:
    return sentry_events(
        default_integrations=False, auto_enabling_integrations=False, integrations=integrations
    )


@pytest.fixture(name='with_logging')
def _with_logging() -> Iterator[list[Any]]:
    with only_integrations(LoggingIntegration()) as events:
        yield events


@pytest.fixture(name='without_logging')
def _without_logging() -> Iterator[list[Any]]:
    with only_integrations() as events:
        yield events


def raised(error: Exception) -> Exception:
    with pytest.raises(type(error)) as info:
        raise error
    return info.value


def test_the_processor_is_registered_once() -> None:
    register()
    count = len(sentry_sdk.scope.global_event_processors)
    register()
    assert len(sentry_sdk.scope.global_event_processors) == count


def test_without_the_sdk_nothing_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    count = len(sentry_sdk.scope.global_event_processors)
    monkeypatch.delitem(sys.modules, 'sentry_sdk.scope')
    register()
    assert len(sentry_sdk.scope.global_event_processors) == count


def test_a_defect_that_is_logged_and_captured_is_one_event(with_logging: list[Any]) -> None:
    error = raised(ValueError(URL))
    report = report_defect(error)
    sentry_sdk.capture_exception(error)
    [event] = with_logging
    assert event['extra']['ref'] == report.ref
    assert PLANTED not in repr(event)


def test_a_record_of_granian_with_a_traceback_as_text_has_no_secret(
    with_logging: list[Any],
) -> None:
    register()
    logging.getLogger('_granian.utils').error(f'Traceback\nValueError: password={PLANTED}')  # noqa: G004 -- as granian
    logging.getLogger('other').error(f'password={PLANTED}')  # noqa: G004 -- as granian
    of_granian, other = with_logging
    assert PLANTED not in repr(of_granian)
    # The records of other programs are theirs.
    assert PLANTED in repr(other)


def test_a_defect_that_is_only_captured_is_one_event_without_secrets(
    without_logging: list[Any],
) -> None:
    error = raised(ValueError(URL))
    report_defect(error)
    sentry_sdk.capture_exception(error)
    sentry_sdk.capture_exception(error)
    [event] = without_logging
    assert event['exception']['values'][-1]['value'] == 'https://***@bank.example'
    assert PLANTED not in repr(event)


def test_a_defect_that_is_captured_before_it_is_logged_is_one_event(
    with_logging: list[Any],
) -> None:
    register()
    error = raised(ValueError(URL))
    sentry_sdk.capture_exception(error)
    report_defect(error)
    assert len(with_logging) == 1


def test_a_group_of_reported_defects_is_no_further_event(with_logging: list[Any]) -> None:
    errors = [raised(ValueError(URL)), raised(KeyError('k'))]
    for error in errors:
        report_defect(error)
    sentry_sdk.capture_exception(raised(ExceptionGroup('two', errors)))
    assert len(with_logging) == 2


def test_a_reported_group_is_one_event(without_logging: list[Any]) -> None:
    group = raised(ExceptionGroup('one', [raised(ValueError(URL))]))
    report_defect(group)
    sentry_sdk.capture_exception(group)
    sentry_sdk.capture_exception(group)
    [event] = without_logging
    assert PLANTED not in repr(event)


def test_messages_and_other_exceptions_are_unchanged(without_logging: list[Any]) -> None:
    register()
    sentry_sdk.capture_message('paid')
    sentry_sdk.capture_exception(raised(ValueError('bad')))
    assert [event.get('message') for event in without_logging] == ['paid', None]
    assert without_logging[1]['exception']['values'][-1]['value'] == 'bad'


def test_a_frame_without_source_code_is_reported(without_logging: list[Any]) -> None:
    code = compile(f'raise ValueError({URL!r})', '<generated>', 'exec')
    with pytest.raises(ValueError, match=PLANTED) as info:
        exec(code, {})  # noqa: S102 -- its lines are in no file
    report_defect(info.value)
    sentry_sdk.capture_exception(info.value)
    [event] = without_logging
    frame = event['exception']['values'][-1]['stacktrace']['frames'][-1]
    assert frame['filename'] == '<generated>'
    assert not frame.get('context_line')
    assert PLANTED not in repr(event)


def test_a_mapping_in_a_variable_is_not_shown(without_logging: list[Any]) -> None:
    headers = UserMapping()
    with pytest.raises(RuntimeError) as info:
        raise RuntimeError(len(headers))
    report_defect(info.value)
    sentry_sdk.capture_exception(info.value)
    [event] = without_logging
    variables = event['exception']['values'][-1]['stacktrace']['frames'][-1]['vars']
    assert variables['headers'] == "'<UserMapping>'"
    assert PLANTED not in repr(variables)


def frames_of(event: Any) -> Any:
    return event['exception']['values'][-1]['stacktrace']['frames']


def test_a_literal_in_a_source_line_is_masked(without_logging: list[Any]) -> None:
    password = 'FAKE-hunter2'  # noqa: S105 -- the literal
    with pytest.raises(RuntimeError) as info:
        raise RuntimeError(len(password))
    key = """-----BEGIN PRIVATE KEY-----
FAKE-hunter2
-----END PRIVATE KEY-----"""
    report_defect(info.value)
    sentry_sdk.capture_exception(info.value)
    [event] = without_logging
    frame = frames_of(event)[-1]
    assert "password = '***'" in frame['pre_context'][-2]
    assert 'raise RuntimeError' in frame['context_line']
    assert len(frame['post_context']) == 5
    assert PLANTED in key
    assert PLANTED not in repr(event)


def test_breadcrumbs_and_the_request_of_a_defect_are_redacted(without_logging: list[Any]) -> None:
    # An integration adds the request in a scope that has inherited the processor.
    register()
    with sentry_sdk.isolation_scope() as scope:
        scope.clear_breadcrumbs()
        request: Any = {
            'query_string': f'token={PLANTED}',
            'url': URL,
            'cookies': {'token': PLANTED},
        }

        def add_request(event: Any, hint: Any) -> Any:
            return {**event, 'request': request}

        scope.add_event_processor(add_request)
        scope.set_extra('headers', {'Cookie': PLANTED})
        scope.set_tag('api_key', PLANTED)
        sentry_sdk.add_breadcrumb(message=f'GET {URL}', data={'password': PLANTED})
        defect = raised(ValueError('bad'))
        report_defect(defect)
        sentry_sdk.capture_exception(defect)
    [event] = without_logging
    assert event['request']['query_string'] == 'token=***'
    assert event['breadcrumbs']['values'][0]['message'] == 'GET https://***@bank.example'
    assert PLANTED not in repr(event)


@pytest.mark.parametrize('attached', [True, False])
def test_the_event_of_a_failure_has_no_variables(attached: bool) -> None:
    secret = URL
    options: Any = {'attach_stacktrace': attached, 'default_integrations': False}
    with sentry_events(**options, integrations=[LoggingIntegration()]) as events:
        register()
        sentry_sdk.get_isolation_scope().clear_breadcrumbs()
        sentry_sdk.add_breadcrumb(message=secret)
        logging.getLogger('tests.failure').error('failed', extra={'error_type': 'StoreDown'})
        logging.getLogger('tests.own').error('failed')
    [failure, own] = events
    assert ('threads' in failure) is attached
    if attached:
        frames = failure['threads']['values'][0]['stacktrace']['frames']
        assert not [frame for frame in frames if 'vars' in frame]
        assert [frame for frame in frames if frame['function'].startswith('test_the_event')]
    assert PLANTED not in repr(failure)
    assert own['breadcrumbs']['values'][0]['message'] == secret


class UserMapping(Mapping[str, str]):
    @override
    def __getitem__(self, key: str) -> str:
        return {'DB_PASSWORD': PLANTED}[key]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(['DB_PASSWORD'])

    @override
    def __len__(self) -> int:
        return 1
