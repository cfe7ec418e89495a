/**
 * The calls of the session, computed from its events alone.
 *
 * The attempts and waits are drawn from the numbers and times of the events, so that a page that
 * was disconnected shows the same picture after the replay.
 */

/**
 * @typedef {object} Segment
 * @property {"attempt" | "wait" | "queue"} kind
 * @property {number} from milliseconds since 1970
 * @property {number | null} to null: not over yet
 * @property {boolean | null} ok whether an attempt succeeded
 */

/**
 * @typedef {object} Call
 * @property {string} task
 * @property {number} place
 * @property {string} tool
 * @property {string} preview the values of its arguments
 * @property {Segment[]} segments
 * @property {Record<string, any> | null} result the metadata of its `agent.tool_result`
 * @property {number} from
 * @property {number | null} to
 */

/** State of all calls of one session. */
export class Calls {
  constructor() {
    /** The calls of the newest run, in their order. @type {Call[]} */
    this.current = [];
    this.total = 0;
    this.run = null;
    this.isReading = false;
    /** @type {Map<string, {state: string, until: number | null}>} */
    this.circuits = new Map();
  }

  /** Whether a call of the newest run has not ended. */
  get isRunning() {
    return (
      this.isReading ||
      (this.run !== null && this.current.filter((call) => call.result).length < this.total)
    );
  }

  /** Take an event of the session into account; return the call that it belongs to, or null. */
  take(event, at) {
    const { metadata } = event;
    switch (event.event) {
      case "user.message":
        this.isReading = true;
        this.current = [];
        this.run = null;
        return null;
      case "agent.tool_call":
        return this.#begin(metadata, at);
      case "agent.tool_progress":
        return this.#leaveQueue(metadata, at);
      case "agent.tool_result":
        return this.#end(metadata, at);
      case "guard.circuit":
        this.circuits.set(metadata.circuit, {
          state: metadata.after,
          until: metadata.after === "open" ? at + (metadata.retry_after_ms ?? 0) : null,
        });
        return null;
      case "agent.session_end":
        this.isReading = false;
        this.total = this.current.filter((call) => call.result).length;
        return null;
      default:
        return this.#observe(event, at);
    }
  }

  #begin(metadata, at) {
    this.isReading = false;
    if (metadata.run !== this.run) {
      this.run = metadata.run;
      this.current = [];
    }
    this.total = metadata.total;
    const call = {
      task: metadata.task_id,
      place: metadata.place,
      tool: metadata.tool ?? "",
      preview: preview(metadata.arguments),
      segments: [{ kind: metadata.queued ? "queue" : "attempt", from: at, to: null, ok: null }],
      result: null,
      from: at,
      to: null,
    };
    this.current.push(call);
    return call;
  }

  #find(task) {
    return this.current.find((call) => call.task === task) ?? null;
  }

  #leaveQueue(metadata, at) {
    const call = this.#find(metadata.task_id);
    const first = call?.segments[0];
    if (first?.kind !== "queue" || first.to !== null) return call;
    first.to = at;
    call.segments.push({ kind: "attempt", from: at, to: null, ok: null });
    if (at - first.from < MIN_QUEUE) {
      call.segments[1].from = first.from;
      call.segments.shift();
    }
    return call;
  }

  #observe(event, at) {
    const { task_id, attempt, retry_after_ms } = event.metadata;
    const call = task_id === undefined ? null : this.#find(task_id);
    if (call === null || call.result || event.event === "error.retry_attempt") return call;
    // An attempt that is followed by another one says how long the wait is.
    if (attempt === undefined || retry_after_ms === undefined) return call;
    const next = at + retry_after_ms;
    close(call, at, false);
    call.segments.push({ kind: "wait", from: at, to: next, ok: null });
    call.segments.push({ kind: "attempt", from: next, to: null, ok: null });
    return call;
  }

  #end(metadata, at) {
    const call = this.#find(metadata.task_id);
    if (call === null) return null;
    call.result = metadata;
    // The event comes later: first, the output of every seam is computed.
    const end = Math.min(at, Math.max(call.from + metadata.duration_ms, call.segments.at(-1).from));
    call.to = end;
    close(call, end, metadata.success);
    // Once the call is over, it is known how long it had waited in a queue before it began.
    const first = call.segments[0];
    const slept = call.segments
      .filter((segment) => segment.kind === "wait")
      .reduce((sum, segment) => sum + segment.to - segment.from, 0);
    const queued = Math.min(metadata.waited_ms - slept, first.to - first.from);
    if (metadata.attempts === 0) {
      call.segments = [{ kind: "queue", from: call.from, to: end, ok: null }];
    } else if (first.kind === "attempt" && queued > MIN_QUEUE) {
      const began = first.from + queued;
      call.segments.unshift({ kind: "queue", from: first.from, to: began, ok: null });
      first.from = began;
    }
    return call;
  }
}

/** In characters: the length of a preview. */
const MAX_PREVIEW = 80;

function preview(values) {
  const texts = Object.values(values ?? {}).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value),
  );
  const line = texts.join(", ").replace(/\s+/g, " ");
  return [...line.slice(0, 2 * MAX_PREVIEW)].slice(0, MAX_PREVIEW).join("");
}

/** In milliseconds: shorter queues are not shown. */
const MIN_QUEUE = 20;

function close(call, at, ok) {
  const last = call.segments.at(-1);
  if (last.kind !== "attempt" || last.to !== null) return;
  last.from = Math.min(last.from, at);
  last.to = at;
  last.ok = ok;
}
