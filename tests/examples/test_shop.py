"""Tests of the example of a shop on real servers, and that the shop without Seamwise is equal."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx2
import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / 'examples'
TIMEOUT = 30.0
"""Seconds until a server must have started."""


@contextmanager
def serving(app: str, folder: Path, **environment: str) -> Generator[str]:
    """Run an application under uvicorn, and yield its URL; its output is in `folder`."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        descriptor = listener.fileno()
        with (folder / f'{app}.log').open('w', encoding='utf-8') as output:
            process = subprocess.Popen(
                [sys.executable, '-m', 'uvicorn', app, '--fd', str(descriptor)],
                cwd=EXAMPLES,
                env={**os.environ, **environment},
                stdout=output,
                stderr=output,
                pass_fds=[descriptor],
            )
        url = f'http://127.0.0.1:{listener.getsockname()[1]}'
        try:
            wait_for(url, process)
            yield url
        finally:
            process.terminate()
            process.wait(TIMEOUT)


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = monotonic() + TIMEOUT
    while monotonic() < deadline:
        assert process.poll() is None, 'the server has ended'
        try:
            httpx2.get(f'{url}/no-such-path', timeout=1.0)
        except httpx2.TransportError:
            sleep(0.05)
        else:
            return
    pytest.fail('the server does not answer')


class Shop:
    """A running shop, its log and its database."""

    def __init__(self, url: str, folder: Path, app: str) -> None:
        self.client = httpx2.Client(base_url=url, timeout=10.0)
        self.log = folder / f'{app}.log'
        self.database = folder / f'{app}.db'

    def records(self) -> list[dict[str, Any]]:
        lines = self.log.read_text(encoding='utf-8').splitlines()
        return [json.loads(line) for line in lines if line.startswith('{')]


@pytest.fixture(scope='module')
def shops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shop, Shop]]:
    folder = tmp_path_factory.mktemp('shop')
    with ExitStack() as stack:
        shops: list[Shop] = []
        for app in ('shop.api:app', 'shop_plain.api:app'):
            # Each shop has a bank, so that the same charges fail.
            bank = stack.enter_context(serving('shop.fake_bank:app', folder))
            database = f'sqlite+aiosqlite:///{folder / app}.db'
            url = stack.enter_context(serving(app, folder, BANK_URL=bank, DATABASE_URL=database))
            shops.append(Shop(url, folder, app))
            stack.enter_context(shops[-1].client)
        yield shops[0], shops[1]


BOB = {'authorization': 'Bearer bob'}
ADA = {'authorization': 'Bearer ada'}
REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ('GET', '/products/tea', {}),
    ('GET', '/products/milk', {}),
    ('POST', '/orders', {'json': {'sku': 'tea'}}),
    ('POST', '/orders', {'json': {'sku': 'tea', 'quantity': 0}, 'headers': BOB}),
    ('POST', '/orders', {'content': b'{"sku": ', 'headers': BOB}),
    ('POST', '/orders', {'json': {'sku': 'milk'}, 'headers': BOB}),
    ('POST', '/orders', {'json': {'sku': 'cup', 'quantity': 2}, 'headers': BOB}),
    ('POST', '/orders', {'json': {'sku': 'tea', 'quantity': 2}, 'headers': BOB}),
    # The bank declines it, so the stock must be unchanged.
    ('POST', '/orders', {'json': {'sku': 'tea', 'quantity': 8}, 'headers': BOB}),
    ('POST', '/orders', {'json': {'sku': 'tea', 'quantity': 8}, 'headers': ADA}),
    ('GET', '/orders/1', {'headers': BOB}),
    ('GET', '/orders/1', {'headers': ADA}),
    ('GET', '/orders/none', {'headers': BOB}),
    ('POST', '/orders/1/shipment', {'headers': BOB}),
    ('POST', '/orders/1/shipment', {'headers': ADA}),
    ('DELETE', '/orders/1', {'headers': BOB}),
    ('POST', '/orders', {'json': {'sku': 'cup'}, 'headers': BOB}),
    ('DELETE', '/orders/2', {'headers': BOB}),
    ('DELETE', '/orders/2', {'headers': BOB}),
    ('PATCH', '/orders/2', {'headers': BOB}),
    ('GET', '/nowhere', {}),
]
STATUSES = [
    *(200, 404, 401, 400, 400, 404, 409, 201, 409, 409, 200),
    *(404, 400, 403, 200, 409, 201, 204, 404, 405, 404),
]


def answer(shop: Shop, request: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    method, path, options = request
    response = shop.client.request(method, path, **options)
    body: dict[str, Any] = response.json() if response.content else {}
    error: dict[str, Any] = body.get('error', {})
    headers = {name: response.headers.get(name) for name in ('location', 'www-authenticate')}
    assert response.headers['x-request-id'] == body.get(
        'request_id', response.headers['x-request-id']
    )
    return {
        'request': (method, path),
        'status': response.status_code,
        'headers': headers,
        'data': body.get('data'),
        'code': error.get('code'),
        'message': error.get('message'),
        'retryable': error.get('retryable'),
    }


def test_both_shops_give_the_same_answers(shops: tuple[Shop, Shop]) -> None:
    ours, plain = ([answer(shop, request) for request in REQUESTS] for shop in shops)
    assert [item['status'] for item in ours] == STATUSES
    # The two frameworks word errors of the body differently.
    is_comparable = [item['code'] != 'INVALID_REQUEST' for item in ours]
    for item, other, same in zip(ours, plain, is_comparable, strict=True):
        assert item == other if same else item['status'] == other['status']


def test_each_failure_is_in_the_log_once_with_its_request_id(shops: tuple[Shop, Shop]) -> None:
    shop, _ = shops
    shop.client.get('/products/beer', headers={'x-request-id': 'log-1'})
    records = [record for record in shop.records() if record.get('request_id') == 'log-1']
    [failure] = [record for record in records if record['logger'] == 'seamwise']
    assert failure['level'] == 'info'
    assert failure['operation'] == 'GET /products/{sku}'
    assert failure['fields'] == {'sku': 'beer'}


def test_the_command_line_has_the_same_services(shops: tuple[Shop, Shop]) -> None:
    shop, _ = shops
    environment = {**os.environ, 'DATABASE_URL': f'sqlite+aiosqlite:///{shop.database}'}

    def run(*arguments: str) -> tuple[int, str]:
        process = subprocess.run(
            [sys.executable, '-m', 'shop.cli', *arguments],
            cwd=EXAMPLES,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
        return process.returncode, process.stdout + process.stderr

    assert run('show', '77', '--user', 'bob') == (66, 'There is no order 77.\n')
    placed = shop.client.post('/orders', json={'sku': 'tea'}, headers=BOB).json()['data']['number']
    assert run('show', str(placed), '--user', 'bob') == (
        0,
        f'Order {placed}: 1 x tea, not shipped\n',
    )
    assert run('cancel', str(placed), '--user', 'bob') == (0, f'Order {placed} is cancelled.\n')
    assert run('show')[0] == 2


def code_lines(*files: str) -> int:
    """Return the number of lines that are neither blank nor comments."""
    texts = ((EXAMPLES / file).read_text(encoding='utf-8') for file in files)
    lines = (line.strip() for text in texts for line in text.splitlines())
    return sum(bool(line) and not line.startswith('#') for line in lines)


def test_the_shop_has_a_quarter_fewer_lines_than_the_plain_one() -> None:
    names = ('errors', 'bank', 'services', 'api')
    ours = code_lines(*(f'shop/{name}.py' for name in (*names, 'tables')))
    plain = code_lines(*(f'shop_plain/{name}.py' for name in names))
    assert ours < 0.75 * plain


@pytest.mark.nightly
def test_schemathesis_finds_no_difference_from_the_document(shops: tuple[Shop, Shop]) -> None:
    shop, _ = shops
    program = Path(sys.executable).with_name('schemathesis')
    url = f'{str(shop.client.base_url).rstrip("/")}/openapi.json'
    process = subprocess.run(
        [program, 'run', url, '--max-examples', '15', '--header', 'Authorization: Bearer ada'],
        cwd=shop.log.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert process.returncode == 0, process.stdout
    assert '5 passed' in process.stdout
