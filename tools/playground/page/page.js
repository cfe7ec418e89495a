/** The playground: connects the controls, the editor, the type checker, Python and the seams. */

import { announce, byId, element, setText } from "../../../src/seamwise/toolhost/server/page/dom.js";
import { SeamView } from "../../../src/seamwise/toolhost/server/page/seam_view.js";
import {
  addTexts, currentLocale, duration, preferredLocale, setLocale, text,
} from "../../../src/seamwise/toolhost/server/page/texts.js";
import { Checker, CHECKER_FILES } from "./checker.js";
import { Editor } from "./editor.js";
import { decode, encode, MAX_LINK, MAX_PROGRAM } from "./link.js";
import { compressedSize } from "./loading.js";
import { Python, PYTHON_FILES, TIME_LIMIT } from "./python.js";
import { TEXTS } from "./texts.js";

/** The only thing that is stored: the reader's own text. */
const STORAGE_KEY = "seamwise.playground.program";

/** The key of the theme of the documentation, which the playground only reads. */
const THEME_KEY = "theme";

/** The order of the menu; the first one opens the page. */
const ORDER = [
  "forgotten_arm", "bind", "catch_narrows", "table_lacks_an_arm", "direct_style",
  "retry_reads_the_error", "secret_never_prints", "two_errors",
];

/** In milliseconds: the pause in typing after which the text is stored. */
const STORE_PAUSE = 400;

/** In GiB, as browsers round it: with less, the workers end without a message. */
const MIN_MEMORY = 2;

/** Messages of V8, SpiderMonkey and JavaScriptCore. */
const OUT_OF_MEMORY = /out of memory|could not allocate|allocation failed|allocation size overflow/i;

const NEVER = /Argument of type "([^"]+)" cannot be assigned to parameter "arg" of type "Never"/;

class Page {
  #editor = null;
  #seams;
  #python = new Python();
  #checker;
  #problems = null;
  #drawing = null;
  #isRunning = false;
  #storeTimer = 0;
  /** The text of each state in the language of the page. */
  #states = {};

  constructor() {
    addTexts(TEXTS);
    setLocale(preferredLocale(navigator.languages));
    const theme = stored(THEME_KEY);
    if (theme === "light" || theme === "dark") document.documentElement.style.colorScheme = theme;
    this.#seams = new SeamView();
    this.#seams.show(null);
    byId("language").value = currentLocale();
    byId("language").addEventListener("change", (event) => this.#changeLanguage(event.target.value));
    byId("example").addEventListener("change", (event) => this.#choose(event.target.value));
    byId("run").addEventListener("click", () => this.#run());
    byId("stop").addEventListener("click", () => this.#python.stop());
    byId("copy-link").addEventListener("click", () => this.#copyLink());
    addEventListener("hashchange", () => this.#openLink());
    if (/Mac|iPhone|iPad/.test(navigator.platform)) byId("keys").textContent = "⌘ ↵";
  }

  async start() {
    const linked = await decode(location.hash);
    const own = stored(STORAGE_KEY);
    const chosen = linked !== null ? "shared" : own !== null ? "own" : ORDER[0];
    const program = linked ?? own ?? EXAMPLES[ORDER[0]];
    this.#fillExamples(chosen);
    if (location.hash.startsWith("#code=") && linked === null) this.#complain(text("badLink"));
    document.documentElement.classList.remove("is-starting");
    if (!isSupported()) {
      this.#giveUp(program);
      return;
    }
    this.#editor = new Editor(byId("editor"), {
      program,
      onChange: (changed) => this.#change(changed),
      onRun: () => this.#run(),
    });
    this.#showOutputHelp();
    await this.#load(program);
  }

  /** Load the type checker, then Python: the former is of use without the latter. */
  async #load(program) {
    this.#checker = new Checker(
      (problems) => this.#showProblems(problems),
      (reason) => this.#showFailure("problems", "checkerFailed", reason),
    );
    const size = { size: megabytes(compressedSize(CHECKER_FILES)) };
    this.#setState("problems", () => text("loadingChecker", size));
    try {
      await this.#checker.start(program, (share) => this.#progress("problems", share));
      // What was typed until here.
      this.#checker.update(this.#editor.program);
      if (this.#problems === null) this.#setState("problems", () => text("startingChecker"));
    } catch (error) {
      this.#showFailure("problems", "checkerFailed", error.message);
    }
    this.#progress("problems", 1);
    await this.#loadPython();
  }

  async #loadPython() {
    const size = { size: megabytes(compressedSize(PYTHON_FILES)) };
    this.#setState("output", () => text("loadingPython", size));
    try {
      await this.#python.start((share) => {
        this.#progress("output", share);
        if (share === 1) this.#setState("output", () => text("startingPython"));
      });
      this.#setState("output", () => text("ready"));
      byId("run").disabled = false;
    } catch (error) {
      this.#showFailure("output", "pythonFailed", error.message);
    }
    this.#progress("output", 1);
  }

  #giveUp(program) {
    const pre = element("pre.plain", { tabindex: 0 }, program);
    byId("editor").replaceChildren(pre);
    byId("unsupported").hidden = false;
    for (const control of ["run", "stop"]) byId(control).disabled = true;
    this.#editor = { program, load: (other) => (pre.textContent = other), focus() {} };
  }

  // The program

  #fillExamples(chosen) {
    const options = ORDER.map((name) => element("option", { value: name }, text(`ex_${name}`)));
    if (chosen === "shared") options.unshift(element("option", { value: "shared" }, text("sharedProgram")));
    if (chosen === "own" || stored(STORAGE_KEY) !== null) {
      options.unshift(element("option", { value: "own" }, text("ownProgram")));
    }
    byId("example").replaceChildren(...options);
    byId("example").value = chosen;
  }

  #choose(name) {
    const program = name === "own" ? stored(STORAGE_KEY) : EXAMPLES[name];
    if (program === undefined || program === null) return;
    this.#open(program, name);
  }

  #open(program, chosen) {
    this.#complain("");
    if (location.hash) history.replaceState(null, "", location.pathname);
    this.#editor.load(program);
    this.#fillExamples(chosen);
    this.#drawing = null;
    this.#seams.show(null);
    this.#showOutputHelp();
    this.#checker?.update(program);
  }

  async #openLink() {
    const linked = await decode(location.hash);
    if (linked !== null) {
      const { hash } = location;
      this.#open(linked, "shared");
      history.replaceState(null, "", hash);
    } else if (location.hash.startsWith("#code=")) this.#complain(text("badLink"));
  }

  #change(program) {
    if (byId("example").value !== "own") {
      if (location.hash) history.replaceState(null, "", location.pathname);
      this.#fillExamples("own");
    }
    this.#checker?.update(program);
    clearTimeout(this.#storeTimer);
    this.#storeTimer = setTimeout(() => store(program), STORE_PAUSE);
  }

  async #copyLink() {
    const { program } = this.#editor;
    const fragment = await encode(program);
    if (fragment.length > MAX_LINK || program.length > MAX_PROGRAM) {
      this.#complain(text("linkTooLong"));
      return;
    }
    history.replaceState(null, "", fragment);
    try {
      await navigator.clipboard.writeText(location.href);
      this.#complain(text("copied"));
    } catch {
      this.#complain(text("notCopied"));
    }
  }

  #complain(words) {
    setText(byId("run-problem"), words);
  }

  // The type checker

  #showProblems(diagnostics) {
    this.#problems = diagnostics.filter(({ severity }) => severity <= 3);
    this.#editor.show(this.#problems);
    this.#drawProblems();
    announce(byId("problems-state").textContent);
  }

  #drawProblems() {
    const problems = this.#problems ?? [];
    const { length: count } = problems;
    this.#setState("problems", () =>
      count === 0 ? text("noProblems") : text(count === 1 ? "oneProblem" : "problems", { count }),
    );
    byId("problems").replaceChildren(...problems.map((problem) => this.#problem(problem)));
  }

  #problem(problem) {
    const { range, severity, message } = problem;
    const kind = { 1: "error", 2: "warning" }[severity] ?? "info";
    const button = element(
      `button.problem-item.${kind}`,
      { type: "button" },
      element("span.where", {}, text("line", { line: range.start.line + 1 })),
      element("span.message", {}, message),
    );
    const forgotten = NEVER.exec(message)?.[1];
    if (forgotten) {
      const arms = forgotten.split(" | ").map((name) => `case ${name}():`).join(", ");
      button.append(element("span.hint", {}, text("addArm", { arms })));
    }
    button.addEventListener("click", () => this.#editor.goTo(range.start));
    return element("li", {}, button);
  }

  // Python

  async #run() {
    if (this.#isRunning || byId("run").disabled) return;
    this.#complain("");
    this.#isRunning = true;
    byId("run").disabled = true;
    byId("stop").disabled = false;
    byId("output").replaceChildren();
    this.#drawing = null;
    this.#seams.show(null);
    this.#setState("output", () => text("running"));
    const began = performance.now();
    try {
      const { ending, result } = await this.#python.run(this.#editor.program, (stream, words) =>
        byId("output").append(element(`span.${stream}`, {}, words)),
      );
      const time = performance.now() - began;
      this.#drawing = result;
      this.#seams.show(result);
      const words = {
        done: () => text("ended", { time: duration(time) }),
        time: () => text("stoppedByTime", { seconds: TIME_LIMIT / 1000 }),
        stop: () => text("stopped"),
      }[ending];
      this.#setState("output", words);
      if (!byId("output").hasChildNodes()) byId("output").append(element("span.nothing", {}, text("noOutput")));
      announce(result?.error_type ? `${result.error_type}: ${result.message}` : words());
    } catch (error) {
      this.#showFailure("output", "pythonFailed", error.message);
    }
    this.#isRunning = false;
    const hadFocus = document.activeElement === byId("stop");
    byId("run").disabled = false;
    byId("stop").disabled = true;
    // A button that loses the focus would leave a keyboard user nowhere.
    if (hadFocus) byId("run").focus();
  }

  #showOutputHelp() {
    byId("output").replaceChildren(element("span.nothing", {}, text("outputEmpty")));
  }

  // States

  #setState(panel, words) {
    this.#states[panel] = words;
    setText(byId(`${panel}-state`), words());
  }

  /** Say why the type checker or Python does not run; the program stays in the editor. */
  #showFailure(panel, key, reason) {
    if (OUT_OF_MEMORY.test(reason)) byId("unsupported").hidden = false;
    this.#setState(panel, () => text(key, { reason }));
  }

  #progress(panel, share) {
    const bar = byId(`${panel}-progress`);
    bar.hidden = share === 1;
    bar.value = share;
  }

  #changeLanguage(locale) {
    setLocale(locale);
    this.#fillExamples(byId("example").value);
    this.#seams.show(this.#drawing);
    for (const [panel, words] of Object.entries(this.#states)) setText(byId(`${panel}-state`), words());
    if (this.#problems) this.#drawProblems();
    if (byId("output").querySelector(".nothing") && !this.#isRunning) this.#showOutputHelp();
  }
}

function isSupported() {
  // Not every browser says how much memory the device has.
  if (navigator.deviceMemory < MIN_MEMORY) return false;
  return [globalThis.WebAssembly, globalThis.Worker, globalThis.DecompressionStream].every(
    (feature) => feature !== undefined,
  );
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}

/** The storage may be forbidden. */
function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(program) {
  try {
    localStorage.setItem(STORAGE_KEY, program);
  } catch {
    // The program is lost with the page then.
  }
}

new Page().start();
