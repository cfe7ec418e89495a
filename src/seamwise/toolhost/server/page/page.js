/** The page of `seamwise serve`: connects the controls, the session and the views. */

import { CallView } from "./call_view.js";
import { Calls } from "./calls.js";
import { drawMetrics } from "./charts.js";
import { Connection, Refused } from "./connection.js";
import { announce, byId, element, setText } from "./dom.js";
import { EventView } from "./event_view.js";
import { EXAMPLES, GROUPS } from "./examples.js";
import { SAMPLE } from "./sample.js";
import { SeamView } from "./seam_view.js";
import { currentLocale, preferredLocale, setLocale, text } from "./texts.js";

const TOKEN_KEY = "seamwise.token";
const LOCALE_KEY = "seamwise.language";

/** In bytes: a longer output does not fit into a message with all its escapes. */
const MAX_OUTPUT = 400 * 1024;

/** A frame is drawn again after this many times the time that drawing took. */
const DRAW_SHARE = 8;

/** The fragment is never sent to a server. It is removed, so that it is not copied with the address. */
function takeToken() {
  const fragment = decodeURIComponent(location.hash.slice(1));
  if (fragment && !document.getElementById(fragment)) {
    history.replaceState(null, "", location.pathname);
    sessionStorage.setItem(TOKEN_KEY, fragment);
    sessionStorage.removeItem("seamwise.session");
  }
  return sessionStorage.getItem(TOKEN_KEY);
}

class Page {
  #calls = new Calls();
  #events = new EventView();
  #seams = new SeamView();
  #lanes = new CallView((call) => this.#select(call));
  #connection = null;
  #state = { name: "connecting", details: {} };
  #metrics = null;
  #metricsTimer = 0;
  #frame = 0;
  /** The difference of the server's clock from ours, in milliseconds. */
  #clockOffset = 0;
  /** The time of the loss of the connection: nothing is known of what happens after it. */
  #lostAt = null;
  #tools = new Set();
  #isWaiting = false;
  #edited = false;

  constructor() {
    setLocale(localStorage.getItem(LOCALE_KEY) ?? preferredLocale(navigator.languages));
    byId("language").value = currentLocale();
    if (/Mac|iPhone|iPad/.test(navigator.platform)) byId("keys").textContent = "⌘ ↵";
    byId("language").addEventListener("change", (event) => this.#changeLanguage(event.target.value));
    byId("example").addEventListener("change", (event) => this.#choose(event.target.value));
    byId("output").addEventListener("input", () => this.#edit());
    byId("output").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.#run();
      }
    });
    byId("run").addEventListener("click", () => this.#run());
    byId("stop").addEventListener("click", () => this.#connection.send({ event: "user.cancel" }));
    byId("disconnect").addEventListener("click", () => this.#toggle());
    byId("token-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#open(byId("token").value.trim());
    });
    this.#reset();
    drawMetrics(null);
  }

  start() {
    const token = takeToken();
    if (token) this.#open(token);
    else this.#lock("");
    // Until here nothing is visible: neither texts in another language nor what has to be locked.
    document.documentElement.classList.remove("is-starting");
    if (!token) byId("token").focus();
  }

  async #open(token) {
    const connection = new Connection(token, currentLocale(), {
      onState: (name, details) => this.#show(name, details),
      onEvent: (item) => this.#take(item),
      onMark: (kind, details) => this.#mark(kind, details),
      onReset: () => this.#reset(),
    });
    try {
      const tools = await connection.request("/v1/tools");
      this.#tools = new Set(tools.map((tool) => tool.name));
      await connection.open();
    } catch (error) {
      if (!(error instanceof Refused)) {
        this.#show("lost", {});
        setTimeout(() => this.#open(token), 2000);
        return;
      }
      sessionStorage.removeItem(TOKEN_KEY);
      this.#lock(text("tokenWrong"));
      return;
    }
    sessionStorage.setItem(TOKEN_KEY, token);
    const wasLocked = document.body.classList.contains("is-locked");
    document.body.classList.remove("is-locked");
    byId("token-card").hidden = true;
    this.#connection = connection;
    this.#fillExamples();
    if (wasLocked) byId("example").focus();
    this.#refreshMetrics();
  }

  #lock(problem) {
    document.body.classList.add("is-locked");
    byId("token-card").hidden = false;
    setText(byId("token-error"), problem);
    byId("token").focus();
  }

  // The call

  #fillExamples() {
    const select = byId("example");
    const chosen = select.value;
    const offered = EXAMPLES.filter((example) => example.tools.every((tool) => this.#tools.has(tool)));
    select.replaceChildren(
      element("option", { value: "" }, text("ownCall")),
      ...GROUPS.map((group) =>
        element(
          "optgroup",
          { label: text(`group_${group}`) },
          ...offered
            .filter((example) => example.group === group)
            .map((example) => element("option", { value: example.id }, text(`ex_${example.id}`))),
        ),
      ).filter((group) => group.childElementCount),
    );
    if (chosen || this.#edited || byId("output").value) {
      select.value = chosen;
      return;
    }
    const first = offered[0];
    select.value = first.id;
    byId("output").value = first.output;
  }

  #choose(id) {
    const example = EXAMPLES.find((item) => item.id === id);
    byId("output").value = example?.output ?? "";
    this.#edited = false;
    if (!example) byId("output").focus();
    this.#enable();
  }

  #edit() {
    this.#edited = true;
    byId("example").value = "";
    this.#enable();
  }

  async #run() {
    const output = byId("output").value;
    if (byId("run").disabled || this.#isBusy || !output.trim()) return;
    const size = new Blob([output]).size;
    if (size > MAX_OUTPUT) {
      this.#complain(text("tooLong", { size: Math.ceil(size / 1024), most: MAX_OUTPUT / 1024 }));
      return;
    }
    this.#complain("");
    this.#isWaiting = true;
    this.#seams.show(null);
    this.#enable();
    const isSent = await this.#connection.send({
      event: "user.message",
      content: "Run the calls in this output.",
      metadata: { output },
    });
    if (isSent) return;
    this.#isWaiting = false;
    this.#complain(text("notSent"));
    this.#enable();
  }

  #complain(words) {
    setText(byId("run-problem"), words);
  }

  get #isBusy() {
    return this.#isWaiting || this.#calls.isRunning;
  }

  #enable() {
    const isBusy = this.#isBusy;
    const isConnected = this.#state.name === "connected";
    setDisabled(byId("run"), !isConnected || isBusy || !byId("output").value.trim());
    setDisabled(byId("stop"), !isConnected || !isBusy);
  }

  // The session

  #show(name, details) {
    this.#state = { name, details };
    this.#lostAt = name === "connected" ? null : this.#now;
    document.body.classList.toggle("is-offline", name !== "connected");
    byId("state").dataset.state = name;
    setText(byId("state-text"), text(name, details));
    const button = byId("disconnect");
    const isCut = name === "cut" || name === "replaced";
    button.dataset.text = isCut ? "reconnect" : "disconnect";
    setText(button, text(button.dataset.text));
    setDisabled(button, !isCut && name !== "connected");
    this.#enable();
    this.#animate();
  }

  #toggle() {
    if (this.#state.name === "cut" || this.#state.name === "replaced") this.#connection.reconnect();
    else this.#connection.cut();
  }

  #reset() {
    this.#calls = new Calls();
    this.#isWaiting = false;
    this.#events.clear();
    this.#seams.show(SAMPLE, { isExample: true });
    this.#draw();
    setText(byId("position"), "");
  }

  #take(item) {
    const { event, seq, at } = item;
    if (!item.isOld && !item.isReplayed) this.#clockOffset = at - Date.now();
    this.#events.add(item);
    setText(byId("position"), text("atEvent", { seq }));
    const call = this.#calls.take(event, at);
    if (event.event === "user.message") {
      this.#isWaiting = false;
      this.#lanes.selected = null;
      this.#seams.show(null);
    }
    if (event.event === "agent.tool_result" && call) {
      const tool = call.tool || text("unreadable");
      if (!item.isOld) {
        announce(
          call.result.success
            ? text("announceOk", { tool })
            : text("announceFailed", { tool, error: call.result.error_type }),
        );
      }
      // The first failure is shown, or the last success as long as there is none.
      const shown = this.#calls.current.find((other) => other.task === this.#lanes.selected);
      if (!shown?.result || (shown.result.success && !call.result.success)) this.#select(call);
      this.#refreshMetrics();
    }
    this.#enable();
    // Events come in bursts: while calls run, the next frame shows all of them.
    if (!this.#calls.isRunning) this.#animate();
    else if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#animate());
  }

  #mark(kind, details) {
    const words = {
      cut: () => text("cutMark", details),
      resumed: () =>
        details.count === 0
          ? text("nothingMissedMark")
          : text(details.count === 1 ? "resumedOneMark" : "resumedMark", details),
      gap: () => text("gapMark", details),
      new: () => text("newMark"),
    }[kind]();
    this.#events.mark(words);
    announce(words);
  }

  #select(call) {
    this.#lanes.select(call);
    this.#seams.show(call.result);
  }

  /** Draw the lanes, again and again while something changes by itself. */
  #animate() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const began = performance.now();
    // One time for both: a countdown that ends between them would never show its end.
    const now = this.#now;
    this.#lanes.draw(this.#calls, now);
    const isCounting = [...this.#calls.circuits.values()].some(({ until }) => until > now);
    if (this.#lostAt === null && (this.#calls.isRunning || isCounting)) {
      // A machine that is too slow for many lanes has to keep time for the person.
      const next = began + DRAW_SHARE * (performance.now() - began);
      const wait = () => {
        if (performance.now() >= next) this.#animate();
        else this.#frame = requestAnimationFrame(wait);
      };
      this.#frame = requestAnimationFrame(wait);
    }
  }

  #draw() {
    this.#lanes.draw(this.#calls, this.#now);
  }

  /** The time of the server in milliseconds; it stands still without a connection. */
  get #now() {
    return this.#lostAt ?? Date.now() + this.#clockOffset;
  }

  #refreshMetrics() {
    clearTimeout(this.#metricsTimer);
    this.#metricsTimer = setTimeout(async () => {
      try {
        this.#metrics = await this.#connection.request("/v1/metrics");
        drawMetrics(this.#metrics);
      } catch {
        // The connection says that the server is away.
      }
    }, 150);
  }

  // The language

  #changeLanguage(locale) {
    setLocale(locale);
    localStorage.setItem(LOCALE_KEY, locale);
    this.#show(this.#state.name, this.#state.details);
    this.#fillExamples();
    drawMetrics(this.#metrics);
    if (this.#connection) this.#connection.relocalize(locale);
    else this.#reset();
  }
}

function setDisabled(button, isDisabled) {
  // A button that loses the focus would leave a keyboard user nowhere.
  if (isDisabled && document.activeElement === button) {
    button.setAttribute("aria-disabled", "true");
    button.addEventListener("blur", () => settle(button), { once: true });
  } else if (!isDisabled) {
    button.disabled = false;
    button.removeAttribute("aria-disabled");
  } else button.disabled = true;
}

function settle(button) {
  if (button.getAttribute("aria-disabled") === "true") {
    button.removeAttribute("aria-disabled");
    button.disabled = true;
  }
}

new Page().start();
