/** The failure of one call as each seam shows it, side by side. */

import { byId, element } from "./dom.js";
import { effort } from "./call_view.js";
import { jsonNodes } from "./json_view.js";
import { currentLocale, number, text } from "./texts.js";

export const SEAMS = ["cli", "http", "session", "model", "planner", "jsonrpc", "log", "telemetry"];

const TITLES = {
  cli: "CLI",
  http: "HTTP",
  session: "Session",
  model: "Model",
  planner: "Planner",
  jsonrpc: "JSON-RPC",
  log: "Log",
  telemetry: "Telemetry",
};

/** Shows the result of one call; null: that it is not there yet. */
export class SeamView {
  #cards = new Map();

  constructor() {
    for (const seam of SEAMS) {
      const title = element("h3", { id: `seam-${seam}` }, TITLES[seam]);
      const fact = element("span.fact.chip", { hidden: true });
      const audience = element("p.for", { "data-text": `seam_${seam}` }, text(`seam_${seam}`));
      const body = element("pre", { role: "group", "aria-labelledby": `seam-${seam}` });
      body.addEventListener("scroll", () => markCut(body), { passive: true });
      const card = element(
        "article.seam.card",
        { "aria-labelledby": `seam-${seam}`, "data-seam": seam },
        element("header", {}, title, fact, audience),
        body,
      );
      this.#cards.set(seam, { card, fact, body });
      byId("seam-grid").append(card);
    }
  }

  /** Show a result, which may be an example of one. */
  show(result, { isExample = false } = {}) {
    const mark = isExample ? [element("span.chip.warn", {}, text("example"))] : [];
    byId("failure").replaceChildren(...mark, ...headline(result));
    byId("seam-grid").classList.toggle("is-example", isExample);
    for (const [seam, { card, fact, body }] of this.#cards) {
      card.classList.toggle("is-filled", result !== null);
      const output = result?.seams?.[seam] ?? null;
      const label = output === null || isCut(output) ? null : FACTS[seam](output);
      fact.hidden = label === null;
      fact.textContent = label ?? "";
      fact.title = label ?? "";
      fact.className = `fact chip ${result?.success ? "ok" : "bad"}`;
      body.replaceChildren(...bodyOf(seam, output, result));
      body.scrollTop = 0;
      // A text that can be scrolled must be reachable with the keyboard.
      if (body.scrollHeight > body.clientHeight + 1) body.tabIndex = 0;
      else body.removeAttribute("tabindex");
      markCut(body);
    }
  }
}

/** Fade the end of a text that goes on. */
function markCut(body) {
  body.classList.toggle("is-cut", body.scrollHeight - body.scrollTop - body.clientHeight > 4);
}

function headline(result) {
  if (result === null) return [text("seamsEmpty")];
  if (result.success) return [element("code.ok", {}, result.tool), text("noFailure")];
  const nodes = [element("code", {}, result.error_type), element("span", {}, messageOf(result))];
  if (result.category) nodes.push(element("span.chip", {}, result.category));
  nodes.push(
    element("span.chip", {}, text(result.retryable ? "retryable" : "notRetryable")),
  );
  // A failure that is no call has no attempts and no duration.
  if (result.duration_ms !== undefined) nodes.push(element("span.chip", {}, effort(result)));
  return nodes;
}

/** Return what the person in the chat is told. */
function messageOf(result) {
  const last = result.seams?.session ? lastError(result.seams.session) : null;
  return last?.show_content ?? result.message ?? "";
}

/** The one fact of each output that its audience acts on. */
const FACTS = {
  cli: (output) => text("exit", { code: output.exit_code }),
  http: (output) => String(output.status),
  session: (output) => lastError(output)?.event ?? null,
  model: (output) => output.type ?? output.status,
  planner: (output) => output.code,
  jsonrpc: (output) => (output.error ? String(output.error.code) : output.result?.isError ? "isError" : "result"),
  log: (output) => lastOf(output)?.level ?? null,
  telemetry: (output) => output["seamwise.errors"]?.["error.type"] ?? null,
};

function lastOf(output) {
  return Array.isArray(output) ? (output.at(-1) ?? null) : output;
}

function eventsOf(output) {
  return output[currentLocale()] ?? output.en;
}

function lastError(output) {
  return eventsOf(output).at?.(-1) ?? null;
}

function bodyOf(seam, output, result) {
  if (result === null) return [element("span.ghost"), element("span.ghost"), element("span.ghost")];
  const note = result.notes?.[seam];
  if (note !== undefined) return [element("span.nothing", {}, text(note))];
  const isEmpty = output === null || (seam === "session" && eventsOf(output).length === 0);
  if (isEmpty || (Array.isArray(output) && output.length === 0)) {
    return [element("span.nothing", {}, text("nothingShown"))];
  }
  const shown = seam === "session" ? eventsOf(output) : output;
  if (isCut(shown)) {
    return [shown.excerpt, element("span.nothing", {}, text("cutOutput", { size: number(shown.cut_bytes) }))];
  }
  switch (seam) {
    case "cli":
      return [output.text];
    case "http":
      return [element("span.lead", {}, httpHead(output)), ...jsonNodes(output.body)];
    case "session": {
      const events = eventsOf(output);
      const names = [...new Set(events.map((event) => event.event))];
      const lead = names.length > 1 ? [element("span.lead", {}, names.join(" → "))] : [];
      const { content, ...rest } = events.at(-1);
      return [...lead, ...jsonNodes({ event: rest.event, show_content: rest.show_content, content, metadata: rest.metadata })];
    }
    case "log":
      return jsonNodes(lastOf(output));
    default:
      return jsonNodes(output);
  }
}

/** Whether the server has sent the beginning only, because the output is too long for an event. */
function isCut(output) {
  return output !== null && typeof output === "object" && typeof output.cut_bytes === "number";
}

function httpHead(output) {
  const headers = Object.entries(output.headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${output.status}`, ...headers].join("\n");
}
