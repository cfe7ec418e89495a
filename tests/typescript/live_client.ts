import { backoff, connect } from "./client.js";
import type { ClientError, Position, Result, SendResult } from "./client.js";

function describe(error: ClientError): string {
  switch (error.type) {
    case "ReplayGap":
      return `${error.requested} to ${error.first_available - 1} are lost`;
    case "UnknownEpoch":
      return `${error.epoch} is now ${error.current}`;
    case "ConnectionLost":
      return `${error.close_code} ${error.close_reason} after ${error.uptime} s`;
    case "Unauthenticated":
      return error.reason ?? error.scheme;
    case "AccessDenied":
      return `${error.action} ${error.resource}`;
  }
}

const controller = new AbortController();
const client = connect("https://example.org/live", "s-1", {
  token: "ab.c",
  since: { epoch: "e1", seq: 4 },
  backoff: () => backoff({ base: 100 }),
  watch: false,
  signal: controller.signal,
  onNotice: (notice) => console.log(notice.replay, notice.top),
});

async function read(): Promise<Position | null> {
  for await (const result of client) {
    if (result.ok) console.log(result.stored.event.content, result.stored.position.seq);
    else console.log(describe(result.error));
  }
  return client.position;
}

const sent: Promise<SendResult> = client.send({ event: "user.message", content: "Hello" });
const next: Promise<IteratorResult<Result, undefined>> = client.next();
void [read(), sent, next];
client.close();
