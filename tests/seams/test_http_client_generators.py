"""Tests of clients that generators make of a document: every error is a type of its own.

`CLIENT_GENERATORS` names a folder with the programs of an environment (`bin`) and of npm
(`node_modules/.bin`), which `.ci/nightly` installs.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel

from seamwise import Failure, Result
from seamwise.catalog.storage import RecordExists, RecordNotFound, StoreUnavailable
from seamwise.seams.http import Body, bare, envelope, install, named, problem, tagged
from seamwise.seams.http.tables import STORAGE
from tests.seams.openapi_shop import build_shop, shop_answers

FOLDER = Path(os.environ.get('CLIENT_GENERATORS', '/nonexistent'))

OPERATIONS = {
    ('/users/{uid}', 'get'): 'show_users_uid_get',
    ('/users', 'post'): 'create_users_post',
    ('/users', 'get'): 'index_users_get',
    ('/any', 'get'): 'anything_any_get',
}
"""The modules that `openapi-python-client` makes of the operations of the shop."""

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not FOLDER.is_dir(), reason='the generators are not installed'),
]


class Boat(BaseModel):
    name: str


def build_app() -> FastAPI:
    app = FastAPI(title='boats', version='1')
    install(app, STORAGE)

    @app.get('/boats/{name}')
    async def show(name: str) -> Result[Boat, RecordNotFound]:
        return Failure(RecordNotFound('boat', name))

    @app.put('/boats/{name}')
    async def rename(name: str, to: str) -> Result[Boat, RecordNotFound | RecordExists]:
        return Failure(RecordExists('boat', to))

    @app.get('/boats')
    async def boats() -> Result[list[Boat], StoreUnavailable]:
        return Failure(StoreUnavailable('boats', 'closed'))

    return app


@pytest.fixture(name='folder')
def documented_app(tmp_path: Path) -> Path:
    (tmp_path / 'openapi.json').write_text(json.dumps(build_app().openapi()), encoding='utf-8')
    return tmp_path


def generate(folder: Path, program: str, *arguments: str) -> str:
    """Run a generator on the document, and return its output."""
    # The generator in Java starts from another program of the environment.
    path = f'{FOLDER / "bin"}:{os.environ["PATH"]}'
    process = subprocess.run(
        [FOLDER / program, *arguments],
        cwd=folder,
        env={**os.environ, 'PATH': path},
        capture_output=True,
        text=True,
        check=False,
    )
    output = process.stdout + process.stderr
    assert process.returncode == 0, output
    return output


def not_found() -> str:
    answer = TestClient(build_app()).get('/boats/ann')
    assert answer.status_code == 404
    return answer.text


def run(folder: Path, program: str, text: str | None = None) -> str:
    """Run a program that reads a text, by default an answer, and return what it prints."""
    process = subprocess.run(
        [FOLDER / 'bin/python', '-c', program],
        cwd=folder,
        input=text or not_found(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


def test_openapi_python_client_parses_the_error_of_each_status(folder: Path) -> None:
    output = generate(
        folder,
        'bin/openapi-python-client',
        *('generate', '--path', 'openapi.json', '--output-path', 'client', '--meta', 'none'),
    )
    assert 'Unable to parse' not in output
    assert 'unsupported' not in output.lower()
    program = """
import json, sys
from client.models import RecordNotFound, RecordNotFoundFailure
failure = RecordNotFoundFailure.from_dict(json.load(sys.stdin))
assert type(failure.error) is RecordNotFound
print(failure.success, failure.error.code.value, failure.error.details.key)
"""
    assert run(folder, program) == 'False RECORD_NOT_FOUND ann'
    operation = (folder / 'client/api/default/rename_boats_name_put.py').read_text()
    for name in ('BadRequestFailure', 'RecordNotFoundFailure', 'RecordExistsFailure'):
        assert f'{name}.from_dict' in operation


@pytest.mark.parametrize('body', [envelope, bare, problem, named, tagged])
def test_openapi_python_client_parses_every_answer_in_each_body_format(
    tmp_path: Path, body: Body
) -> None:
    app = build_shop(body)
    (tmp_path / 'openapi.json').write_text(json.dumps(app.openapi()), encoding='utf-8')
    generate(
        tmp_path,
        'bin/openapi-python-client',
        *('generate', '--path', 'openapi.json', '--output-path', 'client', '--meta', 'none'),
    )
    answers = shop_answers(app)
    items = [
        (OPERATIONS[path, method], answer.status_code, answer.text)
        for path, method, answer in answers
    ]
    program = """
import json, sys
from importlib import import_module
from client import Client
from httpx import Response
for operation, status, text in json.load(sys.stdin):
    parse = import_module(f'client.api.default.{operation}')._parse_response
    answer = parse(client=Client(base_url='http://x'), response=Response(status, text=text))
    print(type(getattr(answer, 'error', answer)).__name__)
"""
    kinds = run(tmp_path, program, json.dumps(items)).split()
    for kind, (_, _, answer) in zip(kinds, answers, strict=True):
        if answer.status_code >= 400:
            assert f'"{kind}"' in answer.text


def test_datamodel_code_generator_makes_a_model_of_each_error(folder: Path) -> None:
    generate(
        folder,
        'bin/datamodel-codegen',
        *('--input', 'openapi.json', '--input-file-type', 'openapi', '--output', 'models.py'),
        *('--output-model-type', 'pydantic_v2.BaseModel'),
    )
    program = """
import sys
from pydantic import ValidationError
from models import RecordExistsFailure, RecordNotFoundFailure
text = sys.stdin.read()
error = RecordNotFoundFailure.model_validate_json(text).error
try:
    RecordExistsFailure.model_validate_json(text)
except ValidationError:
    print(type(error).__name__, error.code.value, error.details.key)
"""
    assert run(folder, program) == 'RecordNotFound RECORD_NOT_FOUND ann'


def test_openapi_typescript_makes_a_literal_of_each_code(folder: Path) -> None:
    program = 'node_modules/.bin/openapi-typescript'
    generate(folder, program, 'openapi.json', '-o', 'client.d.ts')
    types = (folder / 'client.d.ts').read_text()
    assert 'code: "RECORD_NOT_FOUND";' in types
    assert 'error: components["schemas"]["RecordNotFound"];' in types
    assert 'success: false;' in types


def test_hey_api_makes_a_type_of_the_errors_of_an_operation(folder: Path) -> None:
    generate(folder, 'node_modules/.bin/openapi-ts', '-i', 'openapi.json', '-o', 'client')
    types = (folder / 'client/types.gen.ts').read_text()
    assert "code: 'RECORD_NOT_FOUND';" in types
    _, _, errors = types.partition('RenameBoatsNamePutErrors = {')
    for line in ('404: RecordNotFoundFailure;', '409: RecordExistsFailure;'):
        assert line in errors.partition('};')[0]


def test_openapi_generator_makes_a_class_of_each_error(folder: Path) -> None:
    generate(
        folder,
        'bin/openapi-generator-cli',
        *('generate', '-i', 'openapi.json', '-g', 'python', '-o', 'client'),
    )
    models = folder / 'client/openapi_client/models'
    assert 'error: RecordNotFound' in (models / 'record_not_found_failure.py').read_text()
    assert "'RECORD_NOT_FOUND'" in (models / 'record_not_found.py').read_text()
    operations = (folder / 'client/openapi_client/api/default_api.py').read_text()
    assert '\'409\': "RecordExistsFailure"' in operations
