/** The worker of Python: loads the interpreter, takes the network away, and runs one program. */

import { loadPyodide } from "./pyodide.mjs";

/** What a program could reach other places with. The policy of the page refuses them too. */
const TAKEN = [
  "fetch", "XMLHttpRequest", "WebSocket", "importScripts", "EventSource", "WebSocketStream",
  "WebTransport", "Worker", "SharedWorker", "BroadcastChannel", "indexedDB", "caches", "RTCPeerConnection",
];

/** In characters: the rest of a longer output is dropped. */
const MAX_OUTPUT = 200_000;

/** The lines that are sent one by one; after them, a program that never pauses would flood the page. */
const SINGLE_LINES = 200;

/** In milliseconds: the time between two messages after that. */
const BATCH = 50;

let python = null;
let run = null;

self.onmessage = ({ data }) => {
  if (data.type === "start") start(data).then(() => postMessage({ type: "ready" }), fail);
  else runProgram(data.program);
};
postMessage({ type: "loaded" });

async function start({ module, stdlib, packages }) {
  // The page has loaded the files already.
  self.fetch = async () => new Response(stdlib);
  WebAssembly.instantiateStreaming = async (_response, imports) => ({
    module,
    instance: await WebAssembly.instantiate(module, imports),
  });
  python = await loadPyodide({ lockFileContents: LOCK });
  const site = python.runPython("import sysconfig; sysconfig.get_path('purelib')");
  python.unpackArchive(packages, "zip", { extractDir: site });
  python.runPython(`
import importlib, warnings
importlib.invalidate_caches()
from tools.playground import event_loop, program
import seamwise.policies, seamwise.seams.cli, seamwise.seams.http, seamwise.testing
event_loop.install()
`);
  run = python.runPython("program.run");
  python.runPython("program.confine()");
  for (const name of TAKEN) takeAway(name);
}

function takeAway(name) {
  for (let owner = self; owner; owner = Object.getPrototypeOf(owner)) delete owner[name];
  Object.defineProperty(self, name, { value: undefined });
}

function runProgram(program) {
  const output = new Output();
  python.setStdout({ batched: (line) => output.write("out", line) });
  python.setStderr({ batched: (line) => output.write("err", line) });
  try {
    const drawing = run(program);
    output.flush();
    postMessage({ type: "done", drawing });
  } catch (error) {
    output.flush();
    fail(error);
  }
}

class Output {
  #size = 0;
  #lines = 0;
  #waiting = [];
  #sent = 0;

  write(stream, line) {
    if (this.#size > MAX_OUTPUT) return;
    this.#size += line.length + 1;
    this.#lines += 1;
    const text = this.#size > MAX_OUTPUT ? "…" : `${line}\n`;
    const last = this.#waiting.at(-1);
    if (last?.stream === stream) last.text += text;
    else this.#waiting.push({ stream, text });
    const isDue = performance.now() - this.#sent > BATCH;
    if (this.#lines < SINGLE_LINES || isDue || this.#size > MAX_OUTPUT) this.flush();
  }

  flush() {
    for (const { stream, text } of this.#waiting) postMessage({ type: "output", stream, text });
    this.#waiting = [];
    this.#sent = performance.now();
  }
}

function fail(error) {
  postMessage({ type: "failed", message: String(error?.message ?? error) });
}
