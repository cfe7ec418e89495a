"""Type checks of clients that openapi-typescript types from the document of an application.

The environment variables TSC and OPENAPI_TYPESCRIPT name the programs. The name of this file keeps
it out of a plain test run, for which neither is required.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from seamwise.seams.http import Body, bare, envelope, named, negotiated, problem, tagged
from tests.seams.openapi_shop import build_shop, shop_answers, shop_document
from tests.typescript.check_types import compile_client

FOLDER = Path(__file__).parent
BODIES: dict[str, Body] = {
    'negotiated': negotiated,
    'envelope': envelope,
    'problem': problem,
    'bare': bare,
    'named': named,
    'tagged': tagged,
}


@pytest.fixture(scope='session')
def api(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the types of the application in each body format."""
    return {
        name: generate_types(tmp_path_factory.mktemp(name), shop_document(build_shop(body)))
        for name, body in BODIES.items()
    }


def generate_types(folder: Path, document: dict[str, Any]) -> str:
    (folder / 'api.json').write_text(json.dumps(document), encoding='utf-8')
    subprocess.run(
        [os.environ['OPENAPI_TYPESCRIPT'], 'api.json', '-o', 'api.ts'],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    return (folder / 'api.ts').read_text(encoding='utf-8')


def check_client(folder: Path, types: str, client: str) -> tuple[int, str]:
    (folder / 'api.ts').write_text(types, encoding='utf-8')
    return compile_client(folder, '', client)


def client_of_answers(body: Body, accept: str) -> str:
    """Return a module in which each answer of the application is a constant of its type."""
    lines = ['import type { paths } from "./api";']
    for number, (path, method, response) in enumerate(shop_answers(build_shop(body), accept)):
        keys = (path, method, 'responses', response.status_code, 'content')
        type_ = ''.join(f'[{json.dumps(key)}]' for key in (*keys, response.headers['content-type']))
        lines.append(f'export const answer{number}: paths{type_} = {response.text};')
    return '\n'.join(lines)


@pytest.mark.parametrize(
    ('name', 'accept'),
    [*((name, '*/*') for name in BODIES), ('negotiated', 'application/problem+json')],
)
def test_every_real_answer_has_its_type(
    tmp_path: Path, api: dict[str, str], name: str, accept: str
) -> None:
    client = client_of_answers(BODIES[name], accept)
    assert client.count('export const') >= 15
    assert check_client(tmp_path, api[name], client) == (0, '')


@pytest.mark.parametrize(
    ('right', 'wrong'),
    [
        ('"code":"USER_NOT_FOUND"', '"code":"USER_GONE"'),
        ('"type":"QuotaExceeded"', '"type":"UserNotFound"'),
        ('"details":{"uid":7}', '"details":{"uid":"7"}'),
        ('"street":"High St"', '"road":"High St"'),
        ('"success":true', '"success":false'),
        ('"data":{"name":"ann","uid":100}', '"data":{"name":"ann"}'),
        ('"kind":"Path"', '"part":"Path"'),
    ],
)
def test_a_wrong_answer_is_a_type_error(
    tmp_path: Path, api: dict[str, str], right: str, wrong: str
) -> None:
    client = client_of_answers(negotiated, '*/*')
    assert right in client
    code, output = check_client(tmp_path, api['negotiated'], client.replace(right, wrong))
    assert code != 0
    assert 'client.ts' in output


@pytest.mark.parametrize(
    ('name', 'file'),
    [
        ('negotiated', 'openapi_client.ts'),
        ('envelope', 'openapi_client.ts'),
        ('bare', 'openapi_problem.ts'),
    ],
)
def test_a_client_narrows_the_errors_of_a_route_by_their_type(
    tmp_path: Path, api: dict[str, str], name: str, file: str
) -> None:
    client = (FOLDER / file).read_text(encoding='utf-8')
    assert check_client(tmp_path, api[name], client) == (0, '')


@pytest.mark.parametrize(
    ('name', 'file', 'right', 'wrong'),
    [
        ('negotiated', 'openapi_client.ts', 'case "StoreDown":', 'case "BankDown":'),
        ('negotiated', 'openapi_client.ts', 'details.uid.', 'details.id.'),
        ('negotiated', 'openapi_client.ts', 'answer.data.name', 'answer.data.title'),
        ('negotiated', 'openapi_client.ts', 'details: { uid: 7 },', ''),
        ('bare', 'openapi_problem.ts', 'case "StoreDown":', 'case "BankDown":'),
        ('bare', 'openapi_problem.ts', 'status: 404', 'status: 400'),
        ('bare', 'openapi_problem.ts', '  uid: 7,\n', ''),
        ('bare', 'openapi_problem.ts', 'kind: "Path",', ''),
    ],
)
def test_a_mistake_in_a_client_is_a_type_error(
    tmp_path: Path, api: dict[str, str], name: str, file: str, right: str, wrong: str
) -> None:
    client = (FOLDER / file).read_text(encoding='utf-8')
    assert right in client
    code, output = check_client(tmp_path, api[name], client.replace(right, wrong))
    assert code != 0
    assert 'client.ts' in output
