"""Document 000: the classes of its two domains, their guidance, and their recovery."""

import json
import logging
from pathlib import Path
from typing import Any, assert_never

import pytest

from seamwise import (
    Failure,
    Recovery,
    Result,
    Secret,
    TaggedError,
    attempt,
    find_cause,
    or_raise,
    report_defect,
    when,
)
from seamwise._runtime.samples import sample_error
from seamwise.catalog import network, streaming, tools
from seamwise.seams import log, model
from seamwise.seams.cli.tables import TOOLS as FOR_TERMINALS
from seamwise.seams.http import on as on_http
from seamwise.seams.model.tables import TOOLS as FOR_MODELS
from seamwise.seams.planner import on as on_planner
from seamwise.seams.session.tables import TOOLS as FOR_CHATS
from seamwise.seams.telemetry import Telemetry
from seamwise.testing import assert_failure
from tests.sources.helpers import Records
from tests.strategies import EVERY_CLASS, PLANTED, members

MISSING = tools.FileNotFound('read_file', 'src/a.txt')


def guidance(error: tools.ToolError) -> dict[str, Any]:
    """Return the JSON that the model receives."""
    message = model.tool_message(Failure(error), adapter=FOR_MODELS, call_id='c-1')
    content: dict[str, Any] = json.loads(message.content)
    return content


# Domains


@pytest.mark.requirement('000-01')
def test_tools_and_streams_share_no_class() -> None:
    of_tools, of_streams = members(tools.ToolError), members(streaming.StreamingError)
    assert not {*of_tools} & {*of_streams}
    assert not any(issubclass(kind, of_streams) for kind in of_tools)
    assert not any(issubclass(kind, of_tools) for kind in of_streams)


@pytest.mark.requirement('000-02')
def test_each_class_has_a_message_and_an_explanation_of_its_own() -> None:
    assert all(kind.__doc__ for kind in EVERY_CLASS)
    messages = [str(sample_error(kind)) for kind in members(tools.ToolError)]
    assert len({*messages}) == len(messages)


@pytest.mark.requirement('000-03')
def test_the_base_class_has_no_code() -> None:
    assert not hasattr(TaggedError, 'code')
    assert not any('code' in kind.__struct_fields__ for kind in members(tools.ToolError))


@pytest.mark.requirement('000-04')
def test_a_code_that_does_not_exist_is_refused() -> None:
    code: Any = 'FILE_NOT_FOUNT'
    with pytest.raises(ValueError, match='FILE_NOT_FOUNT'):
        on_planner(tools.FileNotFound).classifies(code)
    with pytest.raises(ValueError, match='400 to 599'):
        on_http(tools.FileNotFound).responds(200, 'FILE_NOT_FOUND')


@pytest.mark.requirement('000-05')
def test_the_context_of_an_error_has_names_and_cannot_change() -> None:
    untyped: Any = tools.FileNotFound
    with pytest.raises(TypeError, match='file_path'):
        untyped('read_file', file_path='a.txt')
    error: Any = MISSING
    with pytest.raises(AttributeError):
        error.path = 'b.txt'


@pytest.mark.requirement('000-06')
def test_three_audiences_read_three_forms() -> None:
    to_model, to_log = guidance(MISSING), log.record(MISSING, params={'token': PLANTED})
    to_user = FOR_CHATS(MISSING).show_content
    assert 'suggestion' in to_model
    assert (to_log.category, to_log.tool, to_log.params) == (
        'file_operation',
        'read_file',
        {'token': '***'},
    )
    assert to_user == "'src/a.txt' does not exist."


@pytest.mark.requirement('000-07', '000-47')
def test_an_unexpected_exception_is_logged_with_its_stack_trace() -> None:
    handler = Records()
    with pytest.raises(ValueError, match='substring') as raised:
        'abc'.index('d')
    report = report_defect(raised.value, log=handler.logger)
    [record] = handler.records
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert vars(record)['error_type'] == 'ValueError'
    assert Path(__file__).name in report.pretty


@pytest.mark.requirement('000-08')
def test_the_user_reads_whether_the_work_can_go_on() -> None:
    event = FOR_CHATS(MISSING)
    assert (event.show_content, event.metadata['recoverable']) == (
        "'src/a.txt' does not exist.",
        True,
    )
    assert FOR_CHATS(tools.ToolCancelled('search', 'ann')).metadata['recoverable'] is False


@pytest.mark.requirement('000-11')
def test_an_error_is_told_by_its_class() -> None:
    def path_of(error: tools.FileError) -> str:
        match error:
            case tools.FileNotFound(path=path):
                return path
            case tools.FileAlreadyExists() | tools.PathForbidden():
                return 'another class'
            case _:
                assert_never(error)

    assert path_of(MISSING) == 'src/a.txt'
    assert path_of(tools.FileAlreadyExists('write', 'a.txt')) == 'another class'


@pytest.mark.requirement('000-12', '000-13')
def test_an_error_knows_none_of_its_audiences() -> None:
    for kind in EVERY_CLASS:
        assert not {'to_llm_message', 'to_log_entry', 'to_user_message'} & {*dir(kind)}
    assert guidance(MISSING)['error_class'] == log.record(MISSING).error_type == 'FileNotFound'


@pytest.mark.requirement('000-14')
def test_the_form_for_the_user_is_that_of_the_seam_in_use() -> None:
    rendered = FOR_TERMINALS(MISSING)
    assert (rendered.text.partition('\n')[0], rendered.exit_code) == (
        "'src/a.txt' does not exist.",
        66,
    )


@pytest.mark.requirement('000-15')
def test_the_groups_are_unions() -> None:
    groups = (
        tools.ToolInputError,
        tools.FileError,
        tools.ContentError,
        tools.ExecutionError,
        tools.ToolStateError,
    )
    assert members(*groups) == members(tools.ToolError)
    assert all(kind.__bases__ == (TaggedError,) for kind in members(tools.ToolError))


@pytest.mark.requirement('000-48')
def test_a_tool_returns_its_errors_and_raises_none() -> None:
    def read(path: str) -> Result[str, tools.FileNotFound]:
        return Failure(tools.FileNotFound('read_file', path))

    assert read('a.txt') == Failure(tools.FileNotFound('read_file', 'a.txt'))


# Classes


@pytest.mark.parametrize(
    ('union', 'names'),
    [
        pytest.param(
            streaming.ParseFailure,
            ['InvalidStream', 'ChunkUnparsable'],
            marks=pytest.mark.requirement('000-16'),
        ),
        pytest.param(
            streaming.HandlerFailure,
            ['ChunkHandlerFailed'],
            marks=pytest.mark.requirement('000-17'),
        ),
        pytest.param(
            streaming.AbortFailure,
            ['StreamAborted', 'UserInterrupted'],
            marks=pytest.mark.requirement('000-18'),
        ),
        pytest.param(
            streaming.ProviderFailure,
            ['StreamProviderFailed'],
            marks=pytest.mark.requirement('000-19'),
        ),
        pytest.param(
            streaming.TokenFailure,
            ['TokenCountFailed'],
            marks=pytest.mark.requirement('000-20'),
        ),
        pytest.param(
            tools.ToolInputError,
            ['MissingParameter', 'InvalidParameter', 'UnknownTool'],
            marks=pytest.mark.requirement('000-21'),
        ),
        pytest.param(
            tools.FileError,
            ['FileNotFound', 'FileAlreadyExists', 'PathForbidden'],
            marks=pytest.mark.requirement('000-22'),
        ),
        pytest.param(
            tools.ContentError,
            ['ContentNotFound', 'ContentMismatch', 'DuplicateMatch'],
            marks=pytest.mark.requirement('000-23'),
        ),
        pytest.param(
            tools.ExecutionError,
            ['CommandTimedOut', 'CommandFailed', 'DiffRejected'],
            marks=pytest.mark.requirement('000-24'),
        ),
        pytest.param(
            tools.ToolStateError,
            ['ToolRepeated', 'TooManyMistakes'],
            marks=pytest.mark.requirement('000-25'),
        ),
        pytest.param(
            network.NetworkError,
            ['UpstreamRateLimited', 'CredentialsRejected', 'NetworkTimedOut'],
            marks=pytest.mark.requirement('000-26'),
        ),
    ],
)
def test_a_branch_of_the_hierarchy_has_its_classes(union: Any, names: list[str]) -> None:
    assert {*names} <= {kind.__name__ for kind in members(union)}


@pytest.mark.requirement('000-09', '000-10', '000-27')
def test_each_domain_is_one_public_module() -> None:
    for module, union in ((streaming, streaming.StreamingError), (tools, tools.ToolError)):
        assert {kind.__module__ for kind in members(union)} == {module.__name__}
        assert all(getattr(module, kind.__name__) is kind for kind in members(union))


@pytest.mark.requirement('000-28')
def test_the_broken_chunk_stays_in_the_program() -> None:
    error = streaming.ChunkUnparsable('no JSON', excerpt=f'data: {PLANTED}', position=7)
    assert (error.excerpt, error.position) == (f'data: {PLANTED}', 7)
    assert PLANTED not in log.encode(log.record(error)).decode()


@pytest.mark.requirement('000-29')
def test_an_invalid_stream_says_why() -> None:
    assert str(streaming.InvalidStream('it is HTML')) == 'The stream cannot be read: it is HTML.'


@pytest.mark.requirement('000-30')
def test_an_error_of_a_call_names_its_tool() -> None:
    unions = (tools.ToolInputError, tools.FileError, tools.ContentError)
    assert all('tool' in kind.__struct_fields__ for kind in members(*unions))


# Guidance


@pytest.mark.requirement('000-31', '000-32')
@pytest.mark.parametrize(
    ('error', 'type_'),
    [
        (tools.MissingParameter('t', 'p'), 'validation_error'),
        (MISSING, 'file_operation_error'),
        (tools.ContentNotFound('t', 'a.txt', 'x'), 'content_error'),
        (tools.CommandFailed('t', 'ls', 1, 'no'), 'execution_error'),
        (tools.ToolRepeated('t', 3, 3), 'state_error'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_model_receives_the_keys_of_the_document(error: tools.ToolError, type_: str) -> None:
    content = guidance(error)
    assert (content['status'], content['type']) == ('error', type_)
    assert content['error_class'] == type(error).__name__
    assert content['message'] == str(error)
    assert content['suggestion']


@pytest.mark.requirement('000-35')
def test_the_example_of_a_missing_parameter_is_in_the_suggestion() -> None:
    suggestion = guidance(tools.MissingParameter('grep', 'pattern', 'TODO'))['suggestion']
    assert "'pattern'" in suggestion
    assert 'TODO' in suggestion
    assert 'example' not in guidance(tools.MissingParameter('grep', 'pattern'))['suggestion']


@pytest.mark.requirement('000-37', '000-39', '000-61')
def test_a_missing_file_is_looked_for_or_created() -> None:
    content = guidance(MISSING)
    assert content['path'] == 'src/a.txt'
    assert content['suggestion'].startswith('List ')
    assert 'create' in content['suggestion']
    assert MISSING.recovery is Recovery.CORRECT


@pytest.mark.requirement('000-40', '000-43', '000-62')
@pytest.mark.parametrize('reason', ['ignored', 'write_protected', 'system'])
def test_a_forbidden_path_is_denied_with_its_reason(reason: tools.PathReason) -> None:
    error = tools.PathForbidden('write_to_file', '.env', reason)
    content = guidance(error)
    assert content['status'] == 'denied'
    assert f'({reason})' in content['message']
    assert ('other files' in content['suggestion']) or ('another path' in content['suggestion'])
    assert error.recovery is Recovery.ASK


@pytest.mark.requirement('000-45')
def test_the_output_of_a_command_reaches_the_model() -> None:
    content = guidance(tools.CommandFailed('run', 'make', 2, 'undefined reference'))
    assert content['output'] == 'undefined reference'


@pytest.mark.requirement('000-46')
def test_the_model_does_not_read_an_unknown_exception() -> None:
    content = guidance(tools.ToolFailed('search', RuntimeError(f'password={PLANTED}')))
    assert PLANTED not in json.dumps(content)
    assert content['message'] == 'search failed.'
    defect = model.defect('err_2f4ad7qz')
    assert 'err_2f4ad7qz' in defect.message


@pytest.mark.requirement('000-49')
def test_the_content_is_one_object_without_json_in_its_texts() -> None:
    for value in guidance(MISSING).values():
        assert not str(value).startswith('{')


# Adoption, metrics and tests


@pytest.mark.requirement('000-50')
def test_code_that_raises_and_code_that_returns_call_each_other() -> None:
    def old() -> str:
        raise FileNotFoundError('a.txt')

    becomes = when(FileNotFoundError).becomes(lambda _: tools.FileNotFound('read_file', 'a.txt'))
    result = attempt(old, becomes)
    assert result.failure() == tools.FileNotFound('read_file', 'a.txt')
    with pytest.raises(Exception, match='does not exist') as raised:
        or_raise(result)
    assert find_cause(raised.value, tools.FileNotFound) is result.failure()


@pytest.mark.requirement('000-51')
def test_a_metric_is_labelled_with_the_class_and_the_category() -> None:
    counted: list[dict[str, Any]] = []

    class Counter:
        def add(self, _: int, attributes: dict[str, Any]) -> None:
            counted.append(attributes)

        def record(self, *_: object) -> None: ...

    class Meter:
        def create_counter(self, *_: object, **__: object) -> Counter:
            return Counter()

        create_histogram = create_counter

    meter: Any = Meter()
    Telemetry(meter).count(MISSING, seam='model', operation='read_file')
    assert counted[0] == {
        'error.type': 'FileNotFound',
        'seamwise.seam': 'model',
        'seamwise.error.category': 'not_found',
    }


@pytest.mark.requirement('000-52')
def test_a_test_makes_a_specific_error_and_compares_it() -> None:
    def read() -> Result[str, tools.FileError]:
        return Failure(tools.FileNotFound('read_file', 'a.txt'))

    error = assert_failure(read(), tools.FileNotFound)
    assert error == tools.FileNotFound('read_file', 'a.txt')


# Recovery


@pytest.mark.parametrize(
    ('error', 'recovery', 'retryable'),
    [
        pytest.param(
            streaming.InvalidStream('it is HTML'),
            Recovery.ASK,
            False,
            marks=pytest.mark.requirement('000-53'),
        ),
        pytest.param(
            streaming.ChunkHandlerFailed('delta'),
            Recovery.RETRY,
            True,
            marks=pytest.mark.requirement('000-54'),
        ),
        pytest.param(
            streaming.StreamAborted('the window was closed'),
            Recovery.STOP,
            False,
            marks=pytest.mark.requirement('000-55'),
        ),
        pytest.param(
            streaming.UserInterrupted('use tabs'),
            Recovery.CORRECT,
            False,
            marks=pytest.mark.requirement('000-56'),
        ),
        pytest.param(
            streaming.StreamProviderFailed('acme'),
            Recovery.RETRY,
            True,
            marks=pytest.mark.requirement('000-57'),
        ),
        pytest.param(
            streaming.TokenCountFailed('unknown model'),
            Recovery.FALL_BACK,
            False,
            marks=pytest.mark.requirement('000-58'),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_of_a_stream_has_the_recovery_of_the_document(
    error: streaming.StreamingError, recovery: Recovery, retryable: bool
) -> None:
    assert (error.recovery, error.retryable) == (recovery, retryable)


@pytest.mark.parametrize(
    ('error', 'words'),
    [
        pytest.param(
            tools.MissingParameter('grep', 'pattern'),
            ['Call grep again', "'pattern'"],
            marks=pytest.mark.requirement('000-59'),
        ),
        pytest.param(
            tools.InvalidParameter('grep', 'limit', 'must be positive', Secret(-1)),
            ["Fix 'limit'", 'call grep again'],
            marks=pytest.mark.requirement('000-60'),
        ),
        pytest.param(
            tools.ContentNotFound('replace', 'a.txt', 'x'),
            ["Read 'a.txt'", 'search'],
            marks=pytest.mark.requirement('000-63'),
        ),
        pytest.param(
            tools.DiffRejected('apply', 'a.txt', ()),
            ["read 'a.txt' again", 'new diff'],
            marks=pytest.mark.requirement('000-64'),
        ),
        pytest.param(
            tools.CommandTimedOut('run', 'make', 30.0, ''),
            ['Run less', 'more than 30 s'],
            marks=pytest.mark.requirement('000-65'),
        ),
        pytest.param(
            tools.ToolRepeated('grep', 3, 3),
            ['choose another way'],
            marks=pytest.mark.requirement('000-66'),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_suggestion_is_the_recovery_of_the_document(
    error: tools.ToolError, words: list[str]
) -> None:
    suggestion = guidance(error)['suggestion']
    assert [word for word in words if word not in suggestion] == []
    assert error.recovery in {Recovery.CORRECT, Recovery.RETRY}
