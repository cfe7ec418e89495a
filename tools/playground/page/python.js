/** Python in a worker. Each program runs in a new interpreter, which starts in advance. */

import { fileUrl, loadFiles, startWorker } from "./loading.js";

export const PYTHON_FILES = ["pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "python.zip"];

/** In milliseconds: the longest time of work of a program. */
export const TIME_LIMIT = 10_000;

export class Python {
  #files = null;
  #module = null;
  #worker = null;
  #ready = null;
  #stop = null;

  /** Load Python, and start an interpreter. */
  async start(onProgress) {
    this.#files = await loadFiles(PYTHON_FILES, onProgress);
    this.#module = await WebAssembly.compile(this.#files["pyodide.asm.wasm"]);
    await this.#restart();
  }

  #restart() {
    this.#worker?.terminate();
    const script = `import ${JSON.stringify(fileUrl("python_worker.js"))};`;
    const worker = startWorker(script, { type: "module", name: "python" });
    this.#worker = worker;
    this.#ready = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if (data.type === "failed") {
          reject(new Error(data.message));
          worker.terminate(); // It would keep its memory.
        } else if (data.type === "loaded") {
          const { "python_stdlib.zip": stdlib, "python.zip": packages } = this.#files;
          worker.postMessage({ type: "start", module: this.#module, stdlib, packages });
        } else resolve();
      };
      worker.onerror = (event) => reject(new Error(event.message));
    });
    // Whoever runs a program sees the failure.
    this.#ready.catch(() => {});
    return this.#ready;
  }

  /**
   * Run a program.
   *
   * @param {string} program
   * @param {(stream: "out" | "err", text: string) => void} onOutput
   * @returns {Promise<{ending: "done" | "time" | "stop", result: object | null}>}
   */
  async run(program, onOutput) {
    await this.#ready;
    const worker = this.#worker;
    const outcome = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve({ ending: "time", result: null }), TIME_LIMIT);
      this.#stop = () => resolve({ ending: "stop", result: null });
      worker.onmessage = ({ data }) => {
        if (data.type === "output") onOutput(data.stream, data.text);
        else if (data.type === "failed") reject(new Error(data.message));
        else {
          clearTimeout(timer);
          resolve({ ending: "done", result: JSON.parse(data.drawing) });
        }
      };
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage({ type: "run", program });
    }).finally(() => {
      this.#stop = null;
      // A program may leave anything behind; and one that has not ended is ended here.
      this.#restart();
    });
    return outcome;
  }

  /** End the running program at once. */
  stop() {
    this.#stop?.();
  }
}
