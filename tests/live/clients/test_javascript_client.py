"""Tests of the JavaScript client that have no counterpart in Python."""

import json

import pytest

from tests.live.clients.drivers import CLIENT_JS, run_node
from tests.live.clients.scripted_gateway import (
    CONNECT,
    Close,
    Drop,
    Hang,
    Hear,
    ScriptedGateway,
    Serve,
    Step,
    event,
    notice,
    reconnect,
)

pytestmark = pytest.mark.anyio

CLOSED_PORT = 'http://127.0.0.1:9'


async def run_script(body: str, url: str = CLOSED_PORT) -> list[object]:
    """Run statements that have `connect`, `url` and `print`; return what they print."""
    lines = [
        f'import {{ backoff, connect }} from {json.dumps(CLIENT_JS.as_uri())};',
        f'const url = {json.dumps(url)};',
        'const print = (value) => console.log(JSON.stringify(value));',
        body,
    ]
    return [json.loads(line) for line in await run_node('\n'.join(lines))]


async def test_wrong_arguments_are_errors() -> None:
    cases: list[list[object]] = [
        ['example.org', 's', {}],
        ['ftp://example.org', 's', {}],
        ['https://user:pass@example.org', 's', {}],
        ['https://example.org/?token=x', 's', {}],
        ['https://example.org', '', {}],
        ['https://example.org', 7, {}],
        ['https://example.org', 's', {'since': 'e1:4'}],
        ['https://example.org', 's', {'since': {'epoch': 'e1', 'seq': -1}}],
        ['https://example.org', 's', {'token': 7}],
        ['https://example.org', 's', {'token': 'a b'}],
        ['https://example.org', 's', {'heartbeat': 0}],
        ['https://example.org', 's', {'maxMessage': 'x'}],
        ['https://example.org', 's', {'backoff': 3}],
        ['https://example.org', 's', {'onNotice': 3}],
    ]
    printed = await run_script(
        f"""
        for (const arguments_ of {json.dumps(cases)}) {{
          try {{ connect(...arguments_); print("nothing"); }}
          catch (error) {{ print(`${{error.name}} ${{error.message}}`); }}
        }}
        """
    )
    assert len(printed) == len(cases)
    assert all(str(line).startswith(('TypeError ', 'RangeError ')) for line in printed), printed
    assert 'pass@' not in ''.join(map(str, printed))


async def test_sending_works_before_the_iteration_and_is_refused_after_the_end() -> None:
    hear = Hear({'event': 'user.message', 'content': 'Hello', 'metadata': {'n': 1}})
    script: list[Step] = [CONNECT, notice('new', 0), hear, event(1), Close(1000)]
    async with ScriptedGateway(script) as server:
        printed = await run_script(
            """
            const client = connect(url, "s-1");
            const hello = { event: "user.message", content: "Hello", metadata: { n: 1 } };
            print(await client.send(hello));
            for await (const result of client) print(result.ok);
            print((await client.send(hello)).error.type);
            for (const wrong of ["x", { event: "user.ack" }, { event: "agent.error" }]) {
              try { await client.send(wrong); } catch (error) { print(error.name); }
            }
            """,
            server.url,
        )
        assert server.problems == []
    assert printed == [{'ok': True}, True, 'StreamClosed', 'TypeError', 'RangeError', 'RangeError']


async def test_sending_without_a_connection_is_refused_with_the_loss() -> None:
    [sent, same] = await run_script(
        """
        const client = connect(url, "s-1", { backoff: () => [] });
        const sent = await client.send({ event: "user.message" });
        print(sent.error.type);
        for await (const result of client) print(result.error === sent.error);
        """
    )
    assert (sent, same) == ('ConnectionLost', True)


async def test_an_abort_ends_the_iteration_wherever_it_is() -> None:
    script: list[Step] = [CONNECT, notice('new', 1), event(1), Hang()]
    async with ScriptedGateway(script) as server:
        printed = await run_script(
            """
            const whileReading = new AbortController();
            for await (const result of connect(url, "s-1", { signal: whileReading.signal })) {
              print(result.ok);
              setTimeout(() => whileReading.abort(), 20);
            }
            const whileWaiting = new AbortController();
            setTimeout(() => whileWaiting.abort(), 100);
            const options = { signal: whileWaiting.signal, backoff: () => [1e6] };
            for await (const { error } of connect("http://127.0.0.1:9", "s-1", options)) {
              print(error.type);
            }
            for await (const _ of connect(url, "s-1", { signal: AbortSignal.abort() })) print("?");
            print("end");
            """,
            server.url,
        )
        assert len(server.requests) == 1
    assert server.close_codes == [1000]
    assert printed == [True, 'ConnectionLost', 'end']


async def test_an_error_of_a_callback_closes_the_connection() -> None:
    async with ScriptedGateway([CONNECT, notice('new', 1), event(1), Hang()]) as server:
        printed = await run_script(
            """
            const onNotice = () => { throw new Error("mine"); };
            try { for await (const _ of connect(url, "s-1", { onNotice })); }
            catch (error) { print(error.message); }
            """,
            server.url,
        )
    assert printed == ['mine']
    assert server.close_codes == [1000]


async def test_a_notice_is_reported_before_its_events() -> None:
    async with ScriptedGateway([CONNECT, notice('new', 1), event(1), Close(1000)]) as server:
        printed = await run_script(
            """
            const onNotice = ({ replay, top }) => print([replay, top]);
            for await (const { stored } of connect(url, "s-1", { onNotice })) print(stored);
            """,
            server.url,
        )
    body: dict[str, object] = {
        'event': 'agent.thinking',
        'content': '',
        'metadata': {},
        'show_content': '',
    }
    stored = {'position': {'epoch': 'e1', 'seq': 1}, 'at': 0.5, 'event': body}
    assert printed == [['new', 1], stored]


async def test_concurrent_calls_of_next_are_answered_in_order() -> None:
    script: list[Step] = [CONNECT, notice('new', 2), event(1), event(2), Close(1000)]
    async with ScriptedGateway(script) as server:
        printed = await run_script(
            """
            const client = connect(url, "s-1");
            const all = await Promise.all([client.next(), client.next(), client.next()]);
            print(all.map(({ done, value }) => done || value.stored.position.seq));
            """,
            server.url,
        )
    assert printed == [[1, 2, True]]


async def test_a_caller_that_is_too_slow_continues_later_and_loses_nothing() -> None:
    count = 300
    scripts: list[list[Step]] = [[Serve(count, 'x' * 100)] for _ in range(count)]
    async with ScriptedGateway(*scripts) as server:
        *losses, seqs = await run_script(
            """
            const seqs = [];
            // The frames have about 170 characters.
            const options = { maxMessage: 5000, backoff: () => Array(300).fill(0) };
            for await (const { ok, stored, error } of connect(url, "s-1", options)) {
              if (ok) seqs.push(stored.position.seq);
              else print([error.type, error.close_code]);
            }
            print(seqs);
            """,
            server.url,
        )
        assert server.problems == []
    assert losses
    assert all(loss == ['ConnectionLost', 1008] for loss in losses)
    assert seqs == [*range(1, count + 1)]


async def test_the_browser_says_when_the_network_is_back() -> None:
    scripts: list[list[Step]] = [
        [CONNECT, notice('new', 1), event(1), Drop()],
        [reconnect(1), notice('complete', 1), Close(1000)],
    ]
    async with ScriptedGateway(*scripts) as server:
        printed = await run_script(
            """
            globalThis.window = new EventTarget();
            globalThis.document = new EventTarget();
            const client = connect(url, "s-1", { backoff: () => [1e6, 1e6] });
            for await (const { ok } of client) {
              print(ok);
              if (!ok) setTimeout(() => window.dispatchEvent(new Event("online")), 50);
            }
            print("end");
            """,
            server.url,
        )
    assert printed == [True, False, 'end']


async def test_a_hint_does_not_shorten_a_requested_delay() -> None:
    scripts: list[list[Step]] = [[CONNECT, notice('new', 1), event(1), Close(4429)]]
    async with ScriptedGateway(*scripts) as server:
        printed = await run_script(
            """
            globalThis.window = new EventTarget();
            const controller = new AbortController();
            for await (const { ok } of connect(url, "s-1", { signal: controller.signal })) {
              print(ok);
              if (ok) continue;
              setTimeout(() => window.dispatchEvent(new Event("online")), 20);
              setTimeout(() => controller.abort(), 200);
            }
            """,
            server.url,
        )
        assert len(server.requests) == 1
    assert printed == [True, False]


async def test_a_late_timer_of_a_hidden_page_is_caught_up() -> None:
    scripts: list[list[Step]] = [[CONNECT, notice('new', 1), event(1), Hang()]]
    async with ScriptedGateway(*scripts) as server:
        printed = await run_script(
            """
            globalThis.document = new EventTarget();
            let late = 0;
            const world = { now: () => performance.now() + late };
            const options = { world, backoff: () => [] };
            for await (const { ok, error } of connect(url, "s-1", options)) {
              print(ok || error.close_reason);
              setTimeout(() => {
                late = 60_000;
                document.dispatchEvent(new Event("visibilitychange"));
              }, 50);
            }
            """,
            server.url,
        )
    assert printed == [True, 'no data for 30 s']


async def test_the_delays_have_full_jitter_up_to_the_cap() -> None:
    printed = await run_script(
        """
        const delays = backoff({ base: 100, cap: 350, random: () => 0.5 });
        for (let i = 0; i < 4; i += 1) print(delays.next().value);
        """
    )
    assert printed == [50, 100, 175, 175]
