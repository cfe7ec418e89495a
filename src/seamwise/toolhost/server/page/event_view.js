/** The list of the session's events, with their numbers, and marks for cuts and replays. */

import { byId, element } from "./dom.js";
import { number, text } from "./texts.js";

/** The number of events that the list keeps. */
const MAX_ROWS = 500;

export class EventView {
  #list = byId("events");
  #isEmpty = false;
  #isAtEnd = true;
  /** Once in a frame: each look at the height of the list would lay out the page again. */
  #frame = 0;

  constructor() {
    const list = this.#list;
    list.addEventListener(
      "scroll",
      () => {
        this.#isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
      },
      { passive: true },
    );
  }

  /** Remove everything, and say what will be here. */
  clear() {
    this.#isEmpty = true;
    this.#isAtEnd = true;
    this.#list.replaceChildren(element("li.empty", {}, text("eventsEmpty")));
  }

  /**
   * Add an event.
   *
   * @param {import("./connection.js").Item} item
   */
  add({ seq, at, event, isReplayed, isOld }) {
    const time = new Date(at);
    const show = describe(event);
    const row = element(
      "li.event",
      { "data-seq": seq },
      element("span.seq", {}, String(seq)),
      element("span.name", {}, event.event),
      element("time.at", { datetime: time.toISOString() }, clock(time)),
    );
    if (show) row.append(element("span.show", {}, show));
    const kind = kindOf(event);
    if (kind) row.classList.add(kind);
    if (isReplayed) {
      row.classList.add("is-replayed");
      row.querySelector(".seq").title = text("replayed");
    } else if (!isOld) row.classList.add("is-new");
    this.#append(row);
  }

  /** Add a mark between events: a cut, a replay, or a gap. */
  mark(words) {
    this.#append(element("li.mark", {}, words));
  }

  #append(row) {
    if (this.#isEmpty) {
      this.#isEmpty = false;
      this.#list.replaceChildren();
    }
    this.#list.append(row);
    if (this.#list.childElementCount > MAX_ROWS) this.#list.firstElementChild.remove();
    // A person who reads older events is not moved away from them.
    if (!this.#isAtEnd || this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#list.scrollTop = this.#list.scrollHeight;
    });
  }
}

function clock(time) {
  const two = (number) => String(number).padStart(2, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

function kindOf(event) {
  if (event.event === "agent.tool_result") return event.metadata.success ? "is-ok" : "is-error";
  if (event.event === "error.retry_attempt" || event.event.startsWith("guard.")) return "is-guard";
  return /^error\.|^agent\.error$/.test(event.event) ? "is-error" : null;
}

/** Return what an event says, in the language of the page. */
function describe({ event, content, metadata, show_content }) {
  switch (event) {
    case "user.message":
      return typeof metadata.output === "string"
        ? text("show_user_message", { count: number(metadata.output.length) })
        : show_content || content;
    case "user.cancel":
      return text("show_user_cancel");
    case "agent.tool_progress":
      return text("show_tool_progress", { tool: metadata.tool });
    case "agent.tool_call":
      return metadata.tool ? text("show_tool_call", { tool: metadata.tool }) : text("show_unreadable");
    case "agent.tool_result": {
      const tool = metadata.tool ?? text("unreadable");
      return metadata.success
        ? text("show_tool_ok", { tool })
        : text("show_tool_failed", { tool, error: metadata.error_type });
    }
    case "guard.circuit": {
      const word = (state) => text(state === "open" ? "open_" : state);
      return text("show_circuit", {
        name: metadata.circuit,
        before: word(metadata.before),
        after: word(metadata.after),
      });
    }
    default:
      return show_content || content;
  }
}
