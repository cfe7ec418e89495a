/** The lanes of the calls: attempts, waits and refusals on one axis of time. */

import { byId, element, place, setText } from "./dom.js";
import { duration, text } from "./texts.js";

/** Draws the calls of the newest run, and lets a person choose one. */
export class CallView {
  #lanes = byId("lanes");
  #rows = new Map();
  #onSelect;
  selected = null;

  /** @param {(call: import("./calls.js").Call) => void} onSelect */
  constructor(onSelect) {
    this.#onSelect = onSelect;
  }

  /** Draw the calls as they are at a time, in milliseconds since 1970. */
  draw(calls, now) {
    const items = calls.current;
    byId("lanes").parentElement.classList.toggle("has-run", items.length > 0);
    setText(byId("summary"), summary(calls));
    const tasks = new Set(items.map((call) => call.task));
    for (const [task, row] of this.#rows) {
      if (!tasks.has(task)) {
        row.lane.remove();
        this.#rows.delete(task);
      }
    }
    if (!tasks.has(this.selected)) this.selected = null;
    const start = Math.min(...items.map((call) => call.from));
    const end = Math.max(...items.map((call) => call.to ?? now), start + MIN_SPAN);
    for (const call of items) this.#drawLane(call, start, end, now);
    if (items.length) byId("axis").replaceChildren(...ticks(end - start, byId("axis").clientWidth));
    drawCircuits(calls.circuits, now);
  }

  /** Choose a call; its failure is shown at the seams. */
  select(call) {
    this.selected = call.task;
    for (const [task, row] of this.#rows) row.lane.setAttribute("aria-pressed", task === call.task);
  }

  #drawLane(call, start, end, now) {
    let row = this.#rows.get(call.task);
    if (row === undefined) {
      const tool = element("span.tool", {}, call.tool || text("unreadable"));
      const track = element("span.track", { "aria-hidden": "true" });
      const preview = element("span.preview", { title: call.preview }, call.preview);
      const note = element("span.note");
      const lane = element("button.lane", { type: "button", "aria-pressed": "false" }, tool, track, preview, note);
      lane.addEventListener("click", () => this.#onSelect(call));
      row = { lane, track, note, kinds: "", parts: [], words: "" };
      this.#rows.set(call.task, row);
      this.#lanes.append(lane);
    }
    row.lane.setAttribute("aria-pressed", String(this.selected === call.task));
    const scale = (time) => (Math.min(Math.max(time, start), end) - start) / (end - start);
    const segments = call.segments
      .filter((segment) => segment.from <= now || segment.to !== null)
      .map((segment) => {
        const to = Math.min(segment.to ?? now, Math.max(now, call.to ?? 0));
        return { kind: kindOf(segment), from: scale(segment.from), to: scale(to) };
      });
    if (call.result?.attempts === 0) {
      segments.push({ kind: "refused", from: Math.min(scale(call.to), 0.97), to: 1 });
    }
    // While a call runs, each frame moves its segments; they are seldom others.
    const kinds = segments.map(({ kind }) => kind).join(" ");
    if (row.kinds !== kinds) {
      row.kinds = kinds;
      row.parts = segments.map(({ kind }) => element(`span.segment.${kind}`));
      row.track.replaceChildren(...row.parts);
    }
    segments.forEach(({ from, to }, index) => place(row.parts[index], from, to));
    const { head, kind, rest } = noteOf(call);
    const words = `${head}\n${kind}\n${rest}`;
    if (row.words !== words) {
      row.words = words;
      row.note.replaceChildren(...(head ? [element(kind, {}, head), " · "] : []), rest);
    }
  }
}

/** In milliseconds: the shortest time that the axis shows. */
const MIN_SPAN = 5;

/** In pixels: the distance of two marks of the axis. */
const TICK_WIDTH = 64;

/** Return the marks of the axis at round times. */
function ticks(span, width) {
  const most = Math.max(2, Math.min(5, Math.floor(width / TICK_WIDTH)));
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => span / size <= most);
  const unit = span >= 1000 ? { size: 1000, name: "s" } : { size: 1, name: "ms" };
  const digits = Math.max(0, -Math.floor(Math.log10(step / unit.size) + 1e-9));
  const marks = [];
  for (let index = 0; index * step <= span * 0.96; index += 1) {
    const time = ((index * step) / unit.size).toFixed(digits);
    const mark = element("span", {}, index === 0 ? "0" : `${time} ${unit.name}`);
    mark.style.left = `${((100 * index * step) / span).toFixed(3)}%`;
    marks.push(mark);
  }
  return marks;
}

function kindOf(segment) {
  if (segment.kind !== "attempt") return segment.kind;
  if (segment.ok === null) return "running";
  return segment.ok ? "ok" : "failed";
}

function summary(calls) {
  const { current, total, isReading } = calls;
  if (isReading) return text("reading");
  if (current.length === 0) return text("noRun");
  const done = current.filter((call) => call.result);
  if (done.length < total) {
    return total === 1 ? text("runningOne") : text("running", { done: done.length, total });
  }
  const failed = done.filter((call) => !call.result.success).length;
  if (failed) return text(total === 1 ? "runFailedOne" : "runFailed", { failed, count: total });
  return text(total === 1 ? "runOkOne" : "runOk", { count: total });
}

/** In milliseconds: shorter waits are those for a thread, and say nothing. */
const MIN_WAIT = 50;

/** Return the attempts, waits and duration of a call that has ended, in words. */
export function effort(result) {
  const parts = [];
  if (result.attempts !== 1) {
    parts.push(result.attempts ? text("attempts", { count: result.attempts }) : text("noAttempt"));
  }
  if (result.attempts > 0 && result.waited_ms >= MIN_WAIT) parts.push(text("waited", { time: duration(result.waited_ms) }));
  parts.push(text("took", { time: duration(result.duration_ms) }));
  return parts.join(" · ");
}

/** Return what is written under the lane of a call: its ending, with the element, and its effort. */
function noteOf(call) {
  const { result } = call;
  if (!result) {
    const attempts = call.segments.filter((segment) => segment.kind === "attempt").length;
    const rest = attempts > 1 ? text("attempt_n", { count: attempts }) : text("runningOne");
    return { head: "", kind: "b", rest: attempts === 0 ? text("queued") : rest };
  }
  const rest = effort(result);
  if (result.success) return { head: text("legendOk"), kind: "b.ok", rest };
  return { head: result.error_type, kind: "b", rest };
}

function drawCircuits(circuits, now) {
  const list = byId("circuits");
  const rows = [...circuits].map(([name, { state, until }]) => {
    const left = until === null ? 0 : Math.ceil((until - now) / 1000);
    const word = { closed: "closed", open: "open_", half_open: "half_open" }[state];
    const row = element("li", {}, element("code", {}, name), element(`span.chip.${state}`, {}, text(word)));
    if (state === "open") {
      row.append(element("span", {}, left > 0 ? text("probeIn", { seconds: left }) : text("probeNext")));
    }
    return row;
  });
  if (rows.length === 0) rows.push(element("li", {}, text("noCircuit")));
  const key = rows.map((row) => row.textContent).join("\n");
  if (list.dataset.key !== key) {
    list.dataset.key = key;
    list.replaceChildren(...rows);
  }
}
