# The programs find the examples at run time.
# mypy: disable-error-code="import-not-found"
"""The example shop with marked secrets in every request, setting and failure."""

import asyncio
import contextlib
import io
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

import httpx2
import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from seamwise import Failure, Result, Success
from seamwise.seams import cli, http
from tests.examples.leaks.carriers import EXCEPTIONS, VaultClosed, errors
from tests.examples.leaks.emitted import Emitted
from tests.examples.leaks.marks import mark
from tests.examples.leaks.servers import served

Action: TypeAlias = Callable[[], Awaitable[Result[Any, Any]]]

BANK_BODY: Final = {'api_key': mark('bank_body'), 'reason': f'card token={mark("bank_reason")}'}
BANK_HEADERS: Final = {'X-Api-Key': mark('bank_header'), 'Set-Cookie': mark('bank_header')}


async def _charge(request: Request) -> Response:
    """Answer as the bank, with the status that a product has as its price."""
    status = (await request.json())['cents']
    return JSONResponse(BANK_BODY, status, headers=BANK_HEADERS)


BANK: Final = Starlette(routes=[Route('/charges', _charge, methods=['POST'])])
STATUSES: Final = (400, 401, 402, 403, 404, 429, 500, 503)
"""Answers of the bank."""


def _actions() -> dict[str, Action]:
    """Return what looking up a product does, by its number."""
    actions: dict[str, Action] = {}
    for function in EXCEPTIONS:

        async def defect(function: Callable[[], Any] = function) -> Any:
            return function()

        actions[f'defect{function.__name__}'] = defect
    for number, error in enumerate(errors()):

        async def failure(error: Any = error) -> Any:
            return Failure(error)

        actions[f'failure_{number}'] = failure
    return actions


ACTIONS: Final = _actions()

HEADERS: Final = {
    # The token is the name of the user in this shop.
    'Authorization': 'Bearer ann',
    'Proxy-Authorization': f'Bearer {mark("bearer")}',
    'Cookie': f'session={mark("cookie")}; csrftoken={mark("cookie")}',
    'X-Api-Key': mark('api_key_header'),
}

ACCEPTED: Final = ('application/json', 'application/problem+json')


def run_shop(emitted: Emitted) -> None:
    """Send every request to the shop, and run its commands."""
    from shop import tables  # noqa: PLC0415 -- patched before `shop.api` reads it

    from seamwise.seams.log import FailureLog  # noqa: PLC0415 -- as in the shop

    install = http.install
    tables.HTTP |= http.on(VaultClosed).responds(409, 'VAULT_CLOSED')
    tables.CLI |= cli.on(VaultClosed).exits(1, hint='ask for the key.')

    def install_with_metrics(*arguments: Any) -> None:
        install(*arguments, log=FailureLog(telemetry=emitted.telemetry))

    http.install = install_with_metrics  # type: ignore[assignment]  # the shop has no telemetry
    asyncio.run(_serve(emitted))
    _records()
    _commands(emitted)


async def _serve(emitted: Emitted) -> None:
    async with served(BANK) as bank:
        os.environ['BANK_URL'] = f'http://shop:{mark("bank_url")}@{bank}'
        os.environ['DATABASE_URL'] = 'sqlite+aiosqlite://'
        os.environ['DB_PASSWORD'] = mark('environment')
        await _requests(emitted)


async def _requests(emitted: Emitted) -> None:
    from shop import api, services  # noqa: PLC0415 -- after the settings
    from shop.database import Product  # noqa: PLC0415 -- as above

    find_product = services.find_product

    async def find(session: Any, sku: str) -> Any:
        if sku in ACTIONS:
            return await ACTIONS[sku]()
        if sku.startswith('price-'):
            return Success(Product(sku=sku, price=int(sku[6:]), stock=100))
        return await find_product(session, sku)

    services.find_product = find

    @api.app.get('/errors')  # type: ignore[untyped-decorator]  # the example is not on the path
    async def errors_in_a_success() -> Result[object, VaultClosed]:
        error = VaultClosed('a', reason=f'lock held by {mark("error_in_success")}')
        return Success({'errors': [error], 'nested': {'error': error}})

    emitted.watch_sentry(attach_stacktrace=True, send_default_pii=True)
    async with (
        served(emitted.traced(api.app)) as address,
        httpx2.AsyncClient(base_url=f'http://{address}', headers=HEADERS) as client,
    ):

        async def send(method: str, path: str, **options: Any) -> None:
            for accept in ACCEPTED:
                headers = {**options.get('headers', {}), 'Accept': accept}
                response = await client.request(method, path, **{**options, 'headers': headers})
                emitted.add('http', f'{response.headers!r} {response.text}')

        password = {'password': mark('body')}
        await send('GET', '/products/tea', params={'api_key': mark('query')})
        await send('GET', '/nowhere', params={'password': mark('query')})
        await send('GET', '/errors')
        await send('GET', f'/orders/token={mark("path")}')
        await send('GET', f'/products/secret={mark("path")}')
        await send('PATCH', '/orders/1', json=password)
        await send('POST', '/orders', json={'sku': 'tea', 'quantity': password})
        await send('POST', '/orders', json={'sku': password})
        await send('POST', '/orders', json={'password': mark('missing_field')})
        await send('POST', '/orders', content=f'{{"password": "{mark("broken_body")}')
        await send('POST', '/orders', data={'password': mark('form')})
        await send('GET', '/orders/1', headers={'Authorization': f'Basic {mark("basic")}'})
        for sku in ACTIONS:
            await send('GET', f'/products/{sku}', params={'token': mark('query')})
        for sku in [*ACTIONS][::4]:
            await send('POST', '/orders', json={'sku': sku})
        for status in STATUSES:
            await send('POST', '/orders', json={'sku': f'price-{status}'})


def _records() -> None:
    """Write records of the program itself, with `logging` and structlog."""
    logger = logging.getLogger('shop')
    logger.warning('login of %(user)s with %(password)s', {'user': 'ann', 'password': _argument()})
    logger.warning('login with password=%s', mark('log_argument'))
    broken = '50% of token=%s'
    logger.warning(broken, mark('log_argument'))
    logger.warning('login', extra={'headers': {'Cookie': mark('log_extra')}})
    events = structlog.get_logger('shop')
    events.warning('login', password=mark('structlog_event'))
    events.warning(f'token={mark("structlog_event")}', headers=[('X-Api-Key', mark('log_extra'))])
    for function in EXCEPTIONS:
        try:
            function()
        except Exception as error:
            logger.exception('failed')
            events.exception('failed', error=error)
    for planted in errors():
        events.warning('failed', error=planted)
        logger.warning('%s', planted, extra={'error': planted})


def _argument() -> str:
    return mark('log_argument')


def _commands(emitted: Emitted) -> None:
    from shop import cli as program  # noqa: PLC0415 -- after the tables are patched
    from shop import services  # noqa: PLC0415 -- as above

    async def find(session: Any, user: str, number: int) -> Any:
        return await ACTIONS[user]()

    services.find_order = find
    styles: tuple[tuple[Any, Mapping[str, str]], ...] = (
        (None, {}),
        ('json', {}),
        (None, {'SEAMWISE_TRACEBACK': '1'}),
    )
    for style, environment in styles:
        os.environ.update(environment)
        for user in ACTIONS:
            output = io.StringIO()
            with (
                contextlib.redirect_stdout(output),
                contextlib.redirect_stderr(output),
                contextlib.suppress(SystemExit),
            ):
                arguments = ['show', '1', '--user', user]
                cli.main(program.shop, program.CLI, args=arguments, style=style)
            emitted.add('cli', output.getvalue())
