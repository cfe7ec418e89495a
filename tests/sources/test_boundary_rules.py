"""Document 004: what a domain error is and is not, its helpers, and the queue of its migration."""

import json
import logging
from inspect import signature
from typing import Any, get_args, get_type_hints

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route
from starlette.testclient import TestClient

from seamwise import (
    Category,
    Failure,
    Result,
    Success,
    TaggedError,
    attempt,
    catch,
    flow,
    report_defect,
    when,
)
from seamwise.catalog import protocols, workspace
from seamwise.catalog.agents import AgentNotFound, CommandNotFound
from seamwise.catalog.models import ModelNotFound, ProviderNotReady
from seamwise.catalog.network import CredentialsRejected
from seamwise.catalog.problem import Problem
from seamwise.catalog.sessions import SessionBusy
from seamwise.catalog.storage import RecordNotFound, StorageError
from seamwise.seams import cli, http, session
from seamwise.seams.cli.tables import MODELS as FOR_TERMINALS
from seamwise.seams.cli.tables import WORKSPACE as WORKSPACE_FOR_TERMINALS
from seamwise.seams.http import HttpError, named
from seamwise.seams.http.asgi import safe_errors
from seamwise.seams.http.fastapi import installation
from seamwise.seams.http.tables import MODELS, SESSIONS, STORAGE
from seamwise.seams.session import StoredError
from seamwise.seams.session.tables import WORKSPACE as WORKSPACE_FOR_CHATS
from tests.sources.helpers import Records
from tests.strategies import EVERY_CLASS, members

MISSING = ModelNotFound('acme', 'large-2', ('large-3',))


def get_model(model: str) -> Result[str, ModelNotFound | ProviderNotReady]:
    """Return a model, as the service of the document does."""
    if model == 'large-2':
        return Failure(MISSING)
    return Success(model) if model else Failure(ProviderNotReady('acme'))


# The shape of a domain error


@pytest.mark.requirement('004-01', '004-12')
def test_the_example_is_a_tagged_class_with_its_fields() -> None:
    cause = KeyError('large-2')
    error = ModelNotFound('acme', 'large-2', ('large-3',), cause=cause)
    assert isinstance(error, TaggedError)
    assert error.tag == 'ProviderModelNotFoundError'
    assert (error.provider, error.model, error.suggestions) == ('acme', 'large-2', ('large-3',))
    assert error.cause is cause


@pytest.mark.requirement('004-02')
def test_an_error_is_caught_by_its_class_one_or_several() -> None:
    def small(_: TaggedError) -> Success[str]:
        return Success('small-1')

    one = catch(ModelNotFound, small)(get_model('large-2'))
    both = catch((ModelNotFound, ProviderNotReady), small)(get_model(''))
    assert (one, both) == (Success('small-1'), Success('small-1'))
    assert catch(ModelNotFound, small)(get_model('')) == Failure(ProviderNotReady('acme'))


@pytest.mark.requirement('004-03', '004-13')
def test_the_errors_of_a_service_are_in_its_type() -> None:
    result: Result[str, ModelNotFound | ProviderNotReady] = get_model('large-2')
    assert get_args(get_type_hints(get_model)['return'])
    match result:
        case Success():
            pytest.fail('a success')
        case Failure(ModelNotFound() | ProviderNotReady() as error):
            assert error == MISSING


@pytest.mark.requirement('004-04', '004-05', '004-10')
def test_a_domain_error_has_neither_status_nor_wire_shape() -> None:
    for kind in EVERY_CLASS:
        assert not {'http_status', 'to_object', 'to_dict', 'to_json'} & {*dir(kind)}


@pytest.mark.requirement('004-57')
def test_each_seam_owns_its_shape() -> None:
    answer, text, stored = MODELS(MISSING), FOR_TERMINALS(MISSING), StoredError.of(MISSING)
    assert (type(answer), type(text)) == (HttpError, cli.Rendered)
    assert (answer.status, text.exit_code, stored.name) == (404, 2, MISSING.tag)


@pytest.mark.requirement('004-08', '004-33')
def test_the_terminal_shows_a_text_with_the_fields() -> None:
    issues = (Problem('/provider/id', 'must be a text'),)
    rendered = WORKSPACE_FOR_TERMINALS(workspace.ConfigInvalid('./app.jsonc', issues))
    assert './app.jsonc' in rendered.text
    assert '/provider/id: must be a text' in rendered.text


@pytest.mark.requirement('004-11', '004-27')
def test_a_table_covers_a_union_and_no_other_error() -> None:
    assert {*STORAGE.arms} == {*members(StorageError)}
    table: Any = STORAGE
    with pytest.raises(TypeError, match='ModelNotFound'):
        table(MISSING)


@pytest.mark.requirement('004-15', '004-09')
def test_the_session_publishes_a_missing_model_in_its_shape() -> None:
    event = json.loads(session.encode(StoredError.of(MISSING).event('s-1')))
    error = event['properties']['error']
    assert (error['name'], error['data']['modelID']) == (MISSING.tag, 'large-2')
    assert {*error} == {'name', 'data'}


@pytest.mark.requirement('004-16')
def test_a_missing_model_is_404_and_a_route_may_say_400() -> None:
    assert MODELS(MISSING).status == 404
    own = http.on(ModelNotFound).responds(400, 'MODEL_NOT_FOUND')
    assert MODELS.but(own)(MISSING).status == 400


@pytest.mark.requirement('004-17', '004-58')
def test_no_middleware_names_a_class_of_the_catalogue() -> None:
    for module in (safe_errors, installation):
        assert [kind for kind in EVERY_CLASS if kind.__name__ in vars(module)] == []


# Rejections


@pytest.mark.requirement('004-20', '004-21')
def test_each_exception_is_one_error_or_each_is_a_defect() -> None:
    def load() -> str:
        raise OSError('the disk is full')

    becomes = when(Exception).becomes(lambda cause: ProviderNotReady('acme', cause=cause))
    assert isinstance(attempt(load, becomes).failure(), ProviderNotReady)
    with pytest.raises(OSError, match='disk'):
        load()


# Helpers


@pytest.mark.requirement('004-22', '004-23')
def test_the_helpers_of_http_take_a_message() -> None:
    assert HttpError.not_found('There is no such page.').status == 404
    assert HttpError.bad_request('The body is not JSON.').status == 400


@pytest.mark.requirement('004-24', '004-40')
def test_the_final_fallback_logs_the_cause_and_answers_a_safe_500() -> None:
    handler = Records()
    try:
        raise KeyError('secret-table')
    except KeyError as exc:
        ref = report_defect(exc, log=handler.logger).ref
        logging.getLogger('seamwise').addHandler(handler)
        try:
            answer = HttpError.unknown()
        finally:
            logging.getLogger('seamwise').removeHandler(handler)
    assert (answer.status, answer.details) == (500, {'ref': ref})
    assert 'secret-table' not in named(answer).decode()
    [record] = handler.records
    assert record.exc_info is not None


@pytest.mark.requirement('004-28', '004-32', '004-48', '004-50')
def test_what_a_session_stores_is_no_error() -> None:
    stored = StoredError.unknown('The share could not be made.')
    assert not isinstance(stored, TaggedError)
    assert (stored.name, stored.data) == (
        'UnknownError',
        {'message': 'The share could not be made.'},
    )
    assert [*signature(StoredError.model_not_found).parameters] == ['error']


@pytest.mark.parametrize(
    ('stored', 'name', 'text'),
    [
        pytest.param(
            StoredError.agent_not_found('plan', ('build',)),
            AgentNotFound.__name__,
            "Available: 'build'.",
            marks=pytest.mark.requirement('004-29'),
        ),
        pytest.param(
            StoredError.command_not_found('shp', ('ship',)),
            CommandNotFound.__name__,
            "Available: 'ship'.",
            marks=pytest.mark.requirement('004-30'),
        ),
        pytest.param(
            StoredError.model_not_found(MISSING),
            MISSING.tag,
            "Did you mean 'large-3'?",
            marks=pytest.mark.requirement('004-31'),
        ),
    ],
)
def test_a_helper_names_what_there_is(stored: StoredError, name: str, text: str) -> None:
    assert stored.name == name
    assert str(stored.data['message']).endswith(text)


# The queue


@pytest.mark.parametrize(
    ('error', 'category'),
    [
        pytest.param(
            RecordNotFound('session', 's-1'),
            Category.NOT_FOUND,
            marks=pytest.mark.requirement('004-35', '004-42'),
        ),
        pytest.param(
            workspace.WorktreeExists('fix'),
            Category.CONFLICT,
            marks=pytest.mark.requirement('004-36'),
        ),
        pytest.param(
            CredentialsRejected('acme'),
            Category.AUTHENTICATION,
            marks=pytest.mark.requirement('004-37'),
        ),
        pytest.param(
            ProviderNotReady('acme'),
            Category.CONFIGURATION,
            marks=pytest.mark.requirement('004-41'),
        ),
        pytest.param(
            protocols.McpConnectionFailed('files'),
            Category.CONNECTION,
            marks=pytest.mark.requirement('004-43'),
        ),
        pytest.param(
            workspace.SkillNameMismatch('a/SKILL.md', 'a', 'b'),
            Category.CONFIGURATION,
            marks=pytest.mark.requirement('004-44'),
        ),
        pytest.param(
            protocols.LspNotInitialized('pyls'),
            Category.CONFIGURATION,
            marks=pytest.mark.requirement('004-45'),
        ),
        pytest.param(
            workspace.EditorInstallFailed('vim'),
            Category.EXECUTION,
            marks=pytest.mark.requirement('004-46'),
        ),
        pytest.param(
            workspace.ConfigUnreadable('./app.jsonc', 3, 7, 'a comma is missing'),
            Category.CONFIGURATION,
            marks=pytest.mark.requirement('004-47'),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_expected_error_is_a_value_with_a_category(
    error: TaggedError, category: Category
) -> None:
    assert Failure(error).failure().category is category
    assert not isinstance(error, Exception)


@pytest.mark.requirement('004-38')
def test_a_busy_session_is_answered_by_its_own_arm() -> None:
    answer = SESSIONS(SessionBusy('s-1'))
    assert (answer.status, answer.code) == (409, 'SESSION_CONFLICT')


@pytest.mark.requirement('004-39')
def test_an_older_exception_is_a_defect_whatever_its_name() -> None:
    class NamedError(Exception):
        name = 'NotFoundError'

    async def crash(_: Request) -> None:
        raise NamedError('session s-1')

    app = Starlette(routes=[Route('/crash', crash)])
    http.install(app, MODELS, body=named)
    answer = TestClient(app, raise_server_exceptions=False).get('/crash')
    assert (answer.status_code, answer.json()['name']) == (500, 'UnknownError')
    assert 's-1' not in answer.text


@pytest.mark.requirement('004-49')
def test_an_error_of_the_workspace_is_published() -> None:
    for error in (
        workspace.ConfigInvalid('./app.jsonc', ()),
        workspace.SkillInvalid('a/SKILL.md', ()),
        workspace.PluginFailed('lint'),
    ):
        event = session.event(error, adapter=WORKSPACE_FOR_CHATS, locale='en')
        assert event.metadata['error_type'] == error.tag


@pytest.mark.requirement('004-52')
def test_a_configuration_is_rendered_with_its_place() -> None:
    error = workspace.ConfigUnreadable('./app.jsonc', 3, 7, 'a comma is missing')
    rendered = WORKSPACE_FOR_TERMINALS(error)
    assert rendered.exit_code == 78
    assert 'a comma is missing' in rendered.text
    assert rendered.place is not None
    assert (rendered.place.line, rendered.place.column) == (3, 7)


@pytest.mark.requirement('004-59')
def test_the_domain_error_and_its_forms_come_from_one_pipeline() -> None:
    result = flow('large-2', get_model)
    assert result == Failure(MISSING)
    assert MODELS(result.failure()) == MODELS(MISSING)
