/** The type checker: basedpyright in a worker, over the language server protocol. */

import { loadFiles, startWorker } from "./loading.js";

export const CHECKER_FILES = ["checker.bin", "pyright.worker.js"];

const FILE = "file:///src/main.py";

/** In milliseconds: the pause in typing after which the program is checked. */
const PAUSE = 120;

/** A problem: its lines and columns count from 0, as in the protocol. */
export class Checker {
  #script = null;
  #worker = null;
  #version = 0;
  #timer = 0;
  #program;
  #isReady = false;
  #onProblems;
  #onFailure;

  /**
   * @param {(problems: object[]) => void} onProblems takes the problems of the newest program
   * @param {(error: unknown) => void} onFailure
   */
  constructor(onProblems, onFailure) {
    this.#onProblems = onProblems;
    this.#onFailure = onFailure;
  }

  /** Load the checker, and check a program. */
  async start(program, onProgress) {
    this.#program = program;
    const loaded = await loadFiles(CHECKER_FILES, onProgress);
    this.#script = loaded["pyright.worker.js"];
    const packed = new Blob([loaded["checker.bin"]]).stream();
    const unpacked = packed.pipeThrough(new DecompressionStream("gzip"));
    const files = await new Response(unpacked).json();
    this.#worker = this.#start("foreground");
    this.#worker.postMessage({ type: "browser/boot", mode: "foreground" });
    this.#send({
      id: 1,
      method: "initialize",
      params: {
        processId: null,
        rootUri: "file:///src/",
        rootPath: "/src/",
        initializationOptions: { files: { ...files, "/src/main.py": "" } },
        capabilities: { textDocument: { publishDiagnostics: { versionSupport: true } } },
        workspaceFolders: [{ uri: "file:///src/", name: "src" }],
      },
    });
  }

  /** Check a changed program. */
  update(program) {
    this.#program = program;
    if (!this.#isReady) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#change(), PAUSE);
  }

  #start(name) {
    const worker = startWorker(this.#script, { name });
    worker.onmessage = ({ data }) => this.#take(data);
    worker.onerror = (event) => this.#onFailure(event.message);
    return worker;
  }

  #send(message) {
    this.#worker.postMessage({ jsonrpc: "2.0", ...message });
  }

  #change() {
    this.#version += 1;
    this.#send({
      method: "textDocument/didChange",
      params: {
        textDocument: { uri: FILE, version: this.#version },
        contentChanges: [{ text: this.#program }],
      },
    });
  }

  #take(message) {
    if (message.type === "browser/newWorker") {
      const { initialData, port } = message;
      const background = this.#start("background");
      const boot = { type: "browser/boot", mode: "background", initialData, port };
      background.postMessage(boot, [port]);
    } else if (message.id === 1 && message.result) {
      this.#send({ method: "initialized", params: {} });
      const textDocument = { uri: FILE, languageId: "python", version: 0, text: this.#program };
      this.#send({ method: "textDocument/didOpen", params: { textDocument } });
      this.#isReady = true;
    } else if (message.method === "textDocument/publishDiagnostics") {
      const { uri, version, diagnostics } = message.params;
      if (uri === FILE && (version ?? this.#version) === this.#version) this.#onProblems(diagnostics);
    } else if (message.id !== undefined && message.method) {
      const items = message.params?.items;
      this.#send({ id: message.id, result: items ? items.map(() => null) : null });
    }
  }
}
