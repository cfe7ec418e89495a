import asyncio
import os
import subprocess
from collections.abc import Callable
from functools import partial
from typing import Protocol

import aiohttp
import httpx
import httpx2
import requests
from aiohttp import ClientSession
from httpx import post as send_by_post

from seamwise import Category, Failure, Result, Success, TaggedError, attempt, catch_all, on_defect, or_raise, when
from seamwise.catalog.network import HostUnreachable
from seamwise.policies import Guard, bulkhead, circuit, deadline, fallback, hedge, identity, keyed, retry
from seamwise.policies._engine.predicates import always
from seamwise.toolhost import tool

URL = 'https://bank.example.org/charges'


class Down(TaggedError, category=Category.UNAVAILABLE, message='down'):
    pass


class Declined(TaggedError, category=Category.VALIDATION, message='declined'):
    pass


class TooMany(TaggedError, category=Category.RATE_LIMIT, message='too many'):
    pass


ERRORS = when(httpx.TransportError).becomes(lambda error: Down())
client = httpx.Client()
tasks = httpx.AsyncClient()
client2 = httpx2.Client()
session = requests.Session()
again = retry(attempts=3)
patient = circuit(name='bank') >> again >> deadline(2.0)
once = circuit(name='bank') >> deadline(2.0)
quick = hedge(after=0.1, name='quick')
with_key = keyed(patient)


def answer(response: httpx.Response | httpx2.Response | requests.Response) -> Result[int, Down]:
    return Success(response.status_code) if response.status_code < 500 else Failure(Down())


# case: a decorator
@again  # finds: SW122
def decorated() -> Result[int, Down]:
    return answer(client.post(URL))


# case: a decorator of several guards
@(retry(attempts=3) >> deadline(2.0))  # finds: SW122
async def decorated_by_several() -> Result[int, Down]:
    return answer(await tasks.post(URL, json={'cents': 250}))


# case: a decorator without a retry
@once
def decorated_once() -> Result[int, Down]:
    return answer(client.post(URL))


# case: a read
@patient
def read() -> Result[int, Down]:
    return answer(client.get(URL))


# case: writes that are idempotent
@patient
def idempotent_writes() -> Result[int, Down]:
    client.put(URL)
    return answer(client.delete(URL))


# case: patch
@patient  # finds: SW122
def patch() -> Result[int, Down]:
    return answer(client.patch(URL))


# case: the method is an argument
@patient  # finds: SW122
def method_argument() -> Result[int, Down]:
    return answer(client.request('POST', URL))


@patient  # finds: SW122
def method_keyword() -> Result[int, Down]:
    return answer(client.request(url=URL, method='patch'))


@patient
def read_by_argument() -> Result[int, Down]:
    return answer(client.request('GET', URL))


@patient
def unknown_method(method: str) -> Result[int, Down]:
    return answer(client.request(method, URL))


# case: a stream
@patient  # finds: SW122
def stream() -> Result[int, Down]:
    with client.stream('POST', URL) as response:
        return answer(response)


# case: a stream that reads
@patient
def stream_that_reads() -> Result[int, Down]:
    with client.stream('GET', URL) as response:
        return answer(response)


# case: other clients
@patient  # finds: SW122
def by_httpx2() -> Result[int, Down]:
    return answer(client2.post(URL))


@patient  # finds: SW122
def by_requests() -> Result[int, Down]:
    return answer(session.post(URL, {'cents': 250}))


@patient  # finds: SW122
async def by_aiohttp(http: ClientSession) -> Result[int, Down]:
    async with http.post(URL) as response:
        return Success(response.status)


@patient  # finds: SW122
async def by_new_client() -> Result[int, Down]:
    async with httpx.AsyncClient() as http:
        return answer(await http.post(URL))


# case: other clients that read
@patient
async def read_by_others(http: ClientSession) -> Result[int, Down]:
    client2.get(URL)
    session.get(URL)
    async with http.get(URL) as response:
        return Success(response.status)


# case: functions of the packages
@patient  # finds: SW122
def by_function() -> Result[int, Down]:
    return answer(httpx.post(URL))


@patient  # finds: SW122
def by_imported_function() -> Result[int, Down]:
    return answer(send_by_post(URL))


@patient  # finds: SW122
def by_function_of_requests() -> Result[int, Down]:
    return answer(requests.request('POST', URL))


@patient  # finds: SW122
async def by_function_of_aiohttp() -> Result[int, Down]:
    async with aiohttp.request('POST', URL) as response:
        return Success(response.status)


# case: functions of the packages that read
@patient
def read_by_functions() -> Result[int, Down]:
    requests.get(URL)
    requests.request('GET', URL)
    return answer(httpx.get(URL))


# case: a post of another kind
class Wall:
    def post(self, text: str) -> Result[int, Down]:
        return Success(len(text))


@patient
def other_post(wall: Wall) -> Result[int, Down]:
    return wall.post('hello')


# case: a client of an unknown type
@patient
def unknown_client(http) -> Result[int, Down]:
    return answer(http.post(URL))


# case: a client or something else
@patient
def either(http: httpx.Client | Wall) -> Result[int, Down]:
    return Success(1) if http.post(URL) else Failure(Down())


# case: a subclass that may add a key
class KeyedClient(httpx.Client):
    def request(self, *args, **kwargs) -> httpx.Response:
        return super().request(*args, **kwargs)


class NamedClient(httpx.Client):
    name = 'bank'


@patient
def by_keyed_client(http: KeyedClient) -> Result[int, Down]:
    return answer(http.post(URL))


@patient  # finds: SW122
def by_named_client(http: NamedClient) -> Result[int, Down]:
    return answer(http.post(URL))


# case: keyed
@keyed(patient)
def decorated_with_key(key: str) -> Result[int, Down]:
    return answer(client.post(URL, headers={'X-Key': key}))


@with_key
def decorated_with_key_by_name(key: str) -> Result[int, Down]:
    return answer(client.post(URL, headers={'X-Key': key}))


def run_with_key() -> Result[int, TaggedError]:
    return keyed(again).run_sync(lambda key: answer(client.post(URL, headers={'X-Key': key})))


async def run_with_key_in_task() -> object:
    async def pay(key: str) -> Result[int, Down]:
        return answer(await tasks.post(f'{URL}/{key}'))

    return await with_key.run(pay)


# case: keyed, but the key is not used
@keyed(patient)  # finds: SW122
def unused_key(key: str, cents: int) -> Result[int, Down]:
    return answer(client.post(URL, json={'cents': cents}))


@keyed(patient)  # finds: SW122
@attempt(ERRORS)
def unused_key_of_attempt(key: str) -> int:
    return client.post(URL).status_code


def run_with_unused_key() -> Result[int, TaggedError]:
    return keyed(again).run_sync(lambda key: answer(client.post(URL)))  # finds: SW122


async def run_with_unused_key_in_task() -> object:
    async def pay(key: str) -> Result[int, Down]:
        return answer(await tasks.post(URL))

    return await with_key.run(pay)  # finds: SW122


# case: keyed, and the key may be used under another name
def add_key(function: Callable[[int], Result[int, Down]]) -> Callable[[str, int], Result[int, Down]]:
    return lambda key, cents: function(cents)


@keyed(patient)
@add_key
def key_of_decorator(cents: int) -> Result[int, Down]:
    return answer(client.post(URL, json={'cents': cents}))


@keyed(patient)
def key_in_rest(*arguments: str) -> Result[int, Down]:
    return answer(client.post(URL, json=arguments))


# case: keyed inside of a retry
@again
@keyed(again)
def key_below(key: str) -> Result[int, Down]:
    return answer(client.post(URL, headers={'X-Key': key}))


@again
def keyed_inside() -> object:
    return with_key.run_sync(lambda key: answer(client.post(f'{URL}/{key}')))


# case: a literal header with a key
@patient
def literal_key(order: str) -> Result[int, Down]:
    return answer(client.post(URL, headers={'idempotency-Key': order}))


# case: literal headers without a key
@patient  # finds: SW122
def literal_headers() -> Result[int, Down]:
    return answer(client.post(URL, headers={'Accept': 'text/plain'}))


# case: no headers
@patient  # finds: SW122
def no_headers() -> Result[int, Down]:
    return answer(client.post(URL, headers=None))


# case: headers from elsewhere
@patient
def variable_headers(headers: dict[str, str]) -> Result[int, Down]:
    return answer(client.post(URL, headers=headers))


@patient
def joined_headers(headers: dict[str, str]) -> Result[int, Down]:
    return answer(client.post(URL, headers={**headers, 'Accept': 'text/plain'}))


@patient
def computed_header(name: str) -> Result[int, Down]:
    return answer(client.post(URL, headers={name: '1'}))


@patient
def unpacked(options) -> Result[int, Down]:
    return answer(client.post(URL, **options))


@patient
def unpacked_list(options: list[str]) -> Result[int, Down]:
    return answer(session.request('POST', *options))


@patient
def positional_headers(headers: dict[str, str]) -> Result[int, Down]:
    return answer(session.request('POST', URL, None, None, headers))


# case: a key in the body
@patient
def key_in_body(order: str) -> Result[int, Down]:
    return answer(client.post(URL, json={'idempotency_key': order}))


# case: a client with a key
keyed_client = httpx.Client(headers={'Idempotency-Key': '1'})


@patient
def module_client_with_key() -> Result[int, Down]:
    return answer(keyed_client.post(URL))


@patient
def client_with_key(order: str) -> Result[int, Down]:
    with httpx.Client(headers={'Idempotency-Key': order}) as http:
        return answer(http.post(URL))


@patient
def local_client_with_key(order: str) -> Result[int, Down]:
    http = httpx.Client(headers={'Idempotency-Key': order})
    return answer(http.post(URL))


class Payment:
    def __init__(self, order: str) -> None:
        self._keyed = httpx.Client(headers={'Idempotency-Key': order})
        self._plain = httpx.Client()

    @again
    def by_client_with_key(self) -> Result[int, Down]:
        return answer(self._keyed.post(URL))

    @again  # finds: SW122
    def by_plain_client(self) -> Result[int, Down]:
        return answer(self._plain.post(URL))


# case: a lambda
def with_lambda() -> object:
    return again.run_sync(lambda: answer(client.post(URL)))  # finds: SW122


def with_lambda_that_reads() -> object:
    return again.run_sync(lambda: answer(client.get(URL)))


# case: a lambda with a name
def with_named_lambda() -> object:
    op = lambda: answer(client.post(URL))
    return again.run_sync(op)  # finds: SW122


# case: a name with two lambdas
def with_two_lambdas(dry: bool) -> object:
    op = lambda: answer(client.post(URL))
    if dry:
        op = lambda: answer(client.get(URL))
    return again.run_sync(op)


# case: a lambda without a retry
def lambda_once() -> object:
    return once.run_sync(lambda: answer(client.post(URL)))


# case: a function
def charge() -> Result[int, Down]:
    return answer(client.post(URL))


async def charge_in_task() -> Result[int, Down]:
    return answer(await tasks.post(URL))


def look_up() -> Result[int, Down]:
    return answer(client.get(URL))


def with_function() -> object:
    return again.run_sync(charge)  # finds: SW122


async def with_function_in_task() -> object:
    return await again.run(charge_in_task)  # finds: SW122


def with_function_that_reads() -> object:
    return again.run_sync(look_up)


def with_function_once() -> object:
    return once.run_sync(charge)


# case: a function with arguments
def charge_cents(cents: int) -> Result[int, Down]:
    return answer(client.post(URL, json={'cents': cents})) if cents else Success(0)


def with_arguments() -> object:
    return again.run_sync(charge_cents, 250)  # finds: SW122


def with_partial() -> object:
    return again.run_sync(partial(charge_cents, 250))  # finds: SW122


# case: an inner function
def with_inner_function() -> object:
    def pay() -> Result[int, Down]:
        return answer(client.post(URL))

    return again.run_sync(pay)  # finds: SW122


class Desk:
    @again  # finds: SW122
    async def with_inner_function(self) -> Result[int, Down]:
        @attempt(ERRORS)
        async def pay() -> int:
            return (await tasks.post(URL)).status_code

        return await pay()

    @again
    async def with_safe_inner_function(self) -> Result[int, Down]:
        async def pay() -> Result[int, Down]:
            return answer(await tasks.get(URL))

        return await pay()


# case: an inner function that is not called
@again
def inner_function_without_call() -> Result[int, Down]:
    def pay() -> Result[int, Down]:
        return answer(client.post(URL))

    return Success(1) if pay else Failure(Down())


# case: a called function
@again  # finds: SW122
def calls_function() -> Result[int, Down]:
    return charge()


def lambda_calls_function() -> object:
    return again.run_sync(lambda: charge_cents(250))  # finds: SW122


@again
def calls_function_that_reads() -> Result[int, Down]:
    return look_up()


def indirect() -> Result[int, Down]:
    return charge()


def with_function_that_calls() -> object:
    return again.run_sync(indirect)  # finds: SW122


# case: a function two levels deeper

@again
def calls_indirectly() -> Result[int, Down]:
    return indirect()


# case: a method
class Bank:
    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._guard = retry() >> deadline(2.0)
        self._once = deadline(2.0)

    @again  # finds: SW122
    def pay(self) -> Result[int, Down]:
        return answer(self._http.post(URL))

    @again
    def balance(self) -> Result[int, Down]:
        return answer(self._http.get(URL))

    def _charge(self, cents: int) -> Result[int, Down]:
        return answer(self._http.post(URL, json={'cents': cents}))

    def charge(self, cents: int) -> object:
        return self._guard.run_sync(lambda: self._charge(cents))  # finds: SW122

    def charge_once(self, cents: int) -> object:
        return self._once.run_sync(lambda: self._charge(cents))

    def charge_by_method(self, cents: int) -> object:
        return self._guard.run_sync(self._charge, cents)  # finds: SW122


def with_method(bank: Bank) -> object:
    return again.run_sync(lambda: bank._charge(250))  # finds: SW122


# case: a protocol
class Gateway(Protocol):
    def pay(self) -> Result[int, Down]: ...


def with_protocol(gateway: Gateway) -> object:
    return again.run_sync(gateway.pay)


# case: any function
def with_any(op) -> object:
    return again.run_sync(op)


# case: decorated by a call
charge_again = again(charge)  # finds: SW122
look_up_again = again(look_up)
charge_with_hedge = quick(charge)
charge_in_task_with_hedge = quick(charge_in_task)  # finds: SW122


# case: a block
def block() -> int:
    for attempt_ in again:  # finds: SW122
        with attempt_:
            return or_raise(answer(client.post(URL)))
    return 0


async def block_in_task() -> int:
    async for attempt_ in again:  # finds: SW122
        async with attempt_:
            return or_raise(answer(await tasks.post(URL)))
    return 0


# case: a block that reads, or runs once
def block_that_reads() -> int:
    for attempt_ in again:
        with attempt_:
            return or_raise(answer(client.get(URL)))
    return 0


def block_once() -> int:
    client.post(URL)
    for attempt_ in once:
        with attempt_:
            return or_raise(answer(client.post(URL)))
    with once.acquire():
        return or_raise(answer(client.post(URL)))


async def block_with_hedge() -> int:
    async for attempt_ in quick:
        async with attempt_:
            return or_raise(answer(await tasks.post(URL)))
    return 0


# case: a hedge
@quick  # finds: SW122
async def hedged() -> Result[int, Down]:
    return answer(await tasks.post(URL))


async def hedged_run() -> object:
    return await (circuit(name='a') >> quick).run(charge_in_task)  # finds: SW122


# case: a hedge repeats slow attempts, whatever their errors
@quick  # finds: SW122
async def hedged_declined() -> Result[int, Declined]:
    await tasks.post(URL)
    return Failure(Declined())


# case: a hedge of threads makes one attempt
@quick
def hedged_in_thread() -> Result[int, Down]:
    return answer(client.post(URL))


def hedged_run_in_thread() -> object:
    return quick.run_sync(charge)


# case: a hedge that reads
@quick
async def hedged_read() -> Result[int, Down]:
    return answer(await tasks.get(URL))


# case: one attempt
@retry(attempts=1)
def one_attempt() -> Result[int, Down]:
    return answer(client.post(URL))


@hedge(after=0.1, attempts=1, name='one')
async def one_hedged_attempt() -> Result[int, Down]:
    return answer(await tasks.post(URL))


@again.once()
def without_retry() -> Result[int, Down]:
    return answer(client.post(URL))


# case: a predicate or settings from elsewhere
@retry(when=always)
def own_predicate() -> Result[int, Down]:
    return answer(client.post(URL))


def own_settings(**settings) -> object:
    return retry(**settings).run_sync(charge)


def own_guard(guard: Guard[Down]) -> object:
    return guard.run_sync(charge)


# case: other guards
@identity
@bulkhead(4, name='four')
def other_guards() -> Result[int, Down]:
    return answer(client.post(URL))


# case: a fallback around a retry
@(fallback(lambda error: Success(0)) >> again)  # finds: SW122
def with_fallback() -> Result[int, Down]:
    return answer(client.post(URL))


# case: errors that are not retried; SW113 reports them
@again
def never_repeated() -> Result[int, Declined]:
    client.post(URL)
    return Failure(Declined())


# case: errors that refuse the request
@again
def refused() -> Result[int, TooMany | Declined]:
    return Failure(TooMany()) if client.post(URL).status_code == 429 else Failure(Declined())


@(again >> circuit(name='inner'))
def refused_by_circuit() -> Result[int, TooMany]:
    return Failure(TooMany()) if client.post(URL).status_code == 429 else Success(1)


# case: a deadline inside can end a request that took effect
@(again >> deadline(1.0))  # finds: SW122
def ended_by_deadline() -> Result[int, TooMany]:
    return Failure(TooMany()) if client.post(URL).status_code == 429 else Success(1)


# case: an error of the catalogue
@again  # finds: SW122
def from_catalogue() -> Result[int, HostUnreachable]:
    client.post(URL)
    return Failure(HostUnreachable('bank', 'reset'))


# case: any error
@again  # finds: SW122
def any_error() -> Result[int, TaggedError]:
    client.post(URL)
    return Failure(Down())


# case: an attempt
@again  # finds: SW122
@attempt(ERRORS)
def attempted() -> int:
    return client.post(URL).status_code


def attempted_lambda() -> object:
    return again.run_sync(lambda: attempt(lambda: client.post(URL).status_code, ERRORS))  # finds: SW122


@again  # finds: SW122
def attempted_inside() -> Result[int, Down]:
    match attempt(lambda: client.post(URL), ERRORS):
        case Success(response):
            return answer(response)
        case Failure(error):
            return Failure(error)


@again
def attempted_read() -> Result[int, Down]:
    return attempt(lambda: client.get(URL), ERRORS).bind(answer)


# case: a function passed to an attempt
def send() -> httpx.Response:
    return client.post(URL)


@again  # finds: SW122
def attempts_function() -> Result[int, Down]:
    return attempt(send, ERRORS).bind(answer)


# case: in a thread
@again  # finds: SW122
async def in_thread() -> Result[int, Down]:
    return answer(await asyncio.to_thread(lambda: client.post(URL)))


# case: a step of a Result
@again  # finds: SW122
def in_step() -> Result[int, Down]:
    return look_up().bind(lambda cents: answer(client.post(URL)))


# case: a lambda that runs later
@again
def runs_later() -> Result[int, Down]:
    on_defect(lambda report, error: client.post(URL) and None)
    later = [lambda: client.post(URL)]
    return Success(len(later))


# case: inside another guard
@again  # finds: SW122
def inside_other_guard() -> object:
    return once.run_sync(lambda: answer(client.post(URL)))


# case: a condition on an argument
@again  # finds: SW122
def condition(cents: int) -> Result[int, Down]:
    if cents <= 0:
        return Success(0)
    return answer(client.post(URL))


# case: a read, and then a write
@again  # finds: SW122
def read_and_write() -> Result[int, Down]:
    try:
        token = client.get(URL).text
    except httpx.TransportError:
        return Failure(Down())
    return answer(client.post(URL, json={'token': token}))


# case: a read that decides about a write
@again
def created_if_missing() -> Result[int, Down]:
    if client.get(URL).status_code == 404:
        return answer(client.post(URL))
    return Success(200)


@again
def created_unless_found() -> Result[int, Down]:
    found = client.get(URL)
    if found.is_success:
        return answer(found)
    return answer(client.post(URL))


# case: a function that decides about a write
def exists() -> bool:
    return client.get(URL).is_success


@again
def written_if_missing() -> Result[int, Down]:
    return Success(0) if exists() else answer(client.post(URL))


@again
def written_unless_found() -> Result[int, Down]:
    is_there = exists()
    if is_there:
        return Success(0)
    return answer(client.post(URL))


@again
def called_unless_found() -> Result[int, Down]:
    match look_up():
        case Success(cents):
            return Success(cents)
        case Failure():
            pass
    return charge()


@again
def either_is_enough() -> Result[int, Down]:
    is_done = exists() or client.post(URL).is_success
    return Success(1) if is_done else Failure(Down())


# case: an error that decides about a write
@again
def written_after_error() -> Result[int, Down]:
    try:
        return Success(len(or_raise(look_up().map(str))))
    except ValueError:
        return answer(client.post(URL))


# case: the answer of the request itself decides
@again  # finds: SW122
def condition_on_answer() -> Result[int, Down]:
    if client.post(URL).is_success:
        return Success(1)
    return Failure(Down())


# case: a function for several methods
def call(method: str) -> Result[int, Down]:
    if method == 'GET':
        return answer(client.get(URL))
    return answer(client.post(URL))


def reads_by_call() -> object:
    return again.run_sync(lambda: call('GET'))


# case: allowed
@again  # seamwise: allow[SW122] a search
def search() -> Result[int, Down]:
    return answer(client.post(URL))


# case: allowed without a reason
# finds-next: SW122
@again  # seamwise: allow[SW122]
def search_without_reason() -> Result[int, Down]:
    return answer(client.post(URL))


# case: unreachable code
@again
def unreachable() -> Result[int, Down]:
    raise NotImplementedError
    return answer(client.post(URL))


# case: at the level of the module
RECEIPT = again.run_sync(lambda: answer(client.post(URL)))  # finds: SW122
PRICE = again.run_sync(lambda: answer(client.get(URL)))


# case: a command
@again  # finds: SW122
def command() -> Result[int, Down]:
    return Success(0) if subprocess.run(['mail', 'bill.txt']).returncode == 0 else Failure(Down())


# case: a command of the shell
@again  # finds: SW122
def shell_command() -> Result[int, Down]:
    return Success(os.system('mail < bill.txt'))


# case: a command in a task
@again  # finds: SW122
async def command_in_task() -> Result[int, Down]:
    process = await asyncio.create_subprocess_exec('mail', 'bill.txt')
    return Success(await process.wait())


# case: a command without a retry
@once
def command_once() -> Result[int, Down]:
    return Success(subprocess.check_call(['mail', 'bill.txt']))


# case: a tool that must not run twice
@tool(is_repeatable=False)
def pay(cents: int) -> Result[int, Down]:
    """Pay a bill."""
    return Success(cents)


def pays_again() -> object:
    return again.run_sync(lambda: pay(250))  # finds: SW122


@tool(is_repeatable=False)
@again  # finds: SW122
def pay_again(cents: int) -> Result[int, Down]:
    """Pay a bill."""
    return Success(cents)


# case: a tool that declares that running it twice does no harm
@tool(is_repeatable=True)
def search_orders(text: str) -> Result[int, Down]:
    """Search the orders."""
    return answer(client.post(URL, json={'text': text}))


def searches_again() -> object:
    return again.run_sync(lambda: search_orders('tea'))


@tool(is_repeatable=True)
@again
def search_again(text: str) -> Result[int, Down]:
    """Search the orders."""
    return answer(client.post(URL, json={'text': text}))


# case: a tool that declares nothing
@tool
def look(cents: int) -> Result[int, Down]:
    """Look."""
    return Success(cents)


@tool(name='charge_card')
def charge_card(cents: int) -> Result[int, Down]:
    """Charge a card."""
    return answer(client.post(URL, json={'cents': cents}))


def looks_again() -> object:
    return again.run_sync(lambda: look(250))


def charges_again() -> object:
    return again.run_sync(lambda: charge_card(250))  # finds: SW122
