/**
 * Client of a gateway of live sessions: the events of a session, over all losses of the connection.
 *
 * An ES module without dependencies, for browsers, and for Node 22 and later: one file, which a
 * page can import without a build step. `client.py` is the same client for Python, and its module
 * docstring describes the wire. Types: `client.d.ts`.
 *
 *     import { connect } from "./client.js";
 *
 *     for await (const result of connect("https://example.org/live", session, { token })) {
 *       if (result.ok) show(result.stored.event);
 *       else report(result.error);
 *     }
 */

const CONNECT = "user.connect";
const RECONNECT = "user.reconnect_with_state";
const ACKNOWLEDGE = "user.ack";
const RESERVED = [CONNECT, RECONNECT, ACKNOWLEDGE];
const ANSWERS = ["complete", "nothing_missed", "gap", "unknown_epoch", "ack_ahead", "new"];

// The gateway stores no other events of a client.
const NAME = /^user\.[A-Za-z0-9_.-]{1,100}$/;
const SCHEMES = { "http:": "ws:", "https:": "wss:", "ws:": "ws:", "wss:": "wss:" };

const NORMAL = 1000;
const ABNORMAL = 1006;
const INVALID_DATA = 1007;
const OVERLOADED = 1008;
const TOO_LARGE = 1009;
const RESTART = 1012;
const UNAUTHENTICATED = 4401;
const FORBIDDEN = 4403;
const NOT_FOUND = 4404;
const REPLACED = 4409;
const TOO_MANY = 4429;

// All durations are in milliseconds.
const HEARTBEAT = 15_000;
const MAX_HEARTBEAT = 3_600_000;
const MAX_RETRY_AFTER = 120_000;
const TOO_MANY_DELAY = 5_000;
const RESTART_DELAY = 1_000;
const OPEN_TIMEOUT = 10_000;
// Longer timers end at once in some engines.
const MAX_TIMER = 2 ** 31 - 1;

/** Frames that wait for a caller that does not iterate; the connection is given up beyond them. */
const MAX_FRAMES = 10_000;
const MAX_REASON = 200;

const REAL = {
  now: () => performance.now(),
  setTimeout: (callback, delay) => setTimeout(callback, delay),
  clearTimeout: (timer) => clearTimeout(timer),
  random: Math.random,
};

/** Return an endless iterator over delays with full jitter, in milliseconds. */
export function* backoff({ base = 500, factor = 2, cap = 30_000, random = Math.random } = {}) {
  for (let delay = base; ; delay = Math.min(cap, delay * factor)) {
    yield random() * Math.min(cap, delay);
  }
}

/** Create a client of a session: an async iterable. `client.d.ts` describes the options. */
export function connect(url, session, options = {}) {
  return new Connection(url, session, options);
}

class Connection {
  session;
  /** The position behind the last result, for `since` of a later client; null before it. */
  position;
  /** The snapshot that replaces the events of the last reported gap, or null. */
  state = null;

  #address;
  #isWatching;
  #protocols;
  #tracker;
  #delays;
  #heartbeat;
  #maxMessage;
  #onNotice;
  #world;
  #WebSocket;

  #line = null;
  #openedAt = 0;
  #answerBy = Infinity;
  #results = [];
  #reply = null;
  #lost = null;
  #minimumDelay = 0;
  #requestedDelay = null;
  #isRestart = false;
  #isStarted = false;
  #attempt = 0;
  #isEnded = false;
  #isComplete = false;
  #settled = signalOnce();
  #wakeSleeper = null;
  #turn = Promise.resolve();
  #removeListeners;

  constructor(url, session, options) {
    const {
      token = null,
      since = null,
      backoff: delays,
      locale = null,
      watch = false,
      heartbeat = null,
      maxMessage = 16 * 2 ** 20,
      signal = null,
      onNotice = null,
      world = {},
      WebSocket = globalThis.WebSocket,
    } = options;
    this.session = session;
    this.#isWatching = watch;
    this.#address = websocketUrl(url, session, locale, watch, clientName());
    this.#protocols = token === null ? [] : ["seamwise.v1", `token.${checkToken(token)}`];
    this.position = since === null ? null : checkPosition(since);
    this.#world = { ...REAL, ...world };
    this.#tracker = new Tracker(this.position);
    checkFunction("backoff", delays);
    const { random } = this.#world;
    this.#delays = new Delays(delays ?? (() => backoff({ random })), random);
    checkAbove("heartbeat", heartbeat);
    this.#heartbeat = heartbeat;
    checkAbove("maxMessage", maxMessage);
    this.#maxMessage = maxMessage;
    checkFunction("onNotice", onNotice);
    this.#onNotice = onNotice;
    if (typeof WebSocket !== "function") {
      throw new TypeError("There is no WebSocket here: use Node 22 or later, or pass WebSocket.");
    }
    this.#WebSocket = WebSocket;
    this.#removeListeners = this.#listen(signal);
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** Wait for the next event or loss. Calls are answered in their order. */
  next() {
    const result = this.#turn.then(() => this.#advance());
    this.#turn = result.then(ignore, ignore);
    return result;
  }

  /** Close the connection: `break` calls this. */
  async return(value) {
    this.close();
    return { done: true, value };
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    this.close();
  }

  /** Close the connection, and end the iteration. */
  close() {
    this.#isEnded = true;
    this.#results.length = 0;
    this.#removeListeners();
    const line = this.#line;
    this.#line = null;
    line?.close(NORMAL);
    this.#wakeSleeper?.(true);
    this.#settled.resolve();
  }

  async send(event) {
    if (typeof event?.event !== "string") {
      throw new TypeError("send takes an event: an object whose `event` is a name.");
    }
    if (RESERVED.includes(event.event)) {
      throw new RangeError(`"${event.event}" belongs to the protocol; the client sends it itself.`);
    }
    if (!NAME.test(event.event)) {
      const rule = "An event of a client is user.… with letters, digits, and _ . -";
      throw new RangeError(`${rule}, not "${event.event}".`);
    }
    if (this.#isWatching) {
      throw new RangeError("This connection only watches: connect without `watch` to send.");
    }
    const { event: name, content, metadata, show_content } = event;
    return this.#send(JSON.stringify({ event: name, content, metadata, show_content }));
  }

  async acknowledge(position = this.position) {
    if (position === null) return { ok: true };
    const { epoch, seq } = checkPosition(position);
    return this.#send(frame(ACKNOWLEDGE, { epoch, seq }));
  }

  async #send(text) {
    if (!this.#isStarted && !this.#isEnded) await this.#connect();
    await this.#settled.promise;
    if (this.#isComplete) {
      const message = `The stream ${quote(this.session)} is closed.`;
      return { ok: false, error: { type: "StreamClosed", message, stream: this.session } };
    }
    if (this.#line === null) {
      const error = this.#lost ?? this.#connectionLost(closed(NORMAL, "closed here"));
      return { ok: false, error };
    }
    const failure = this.#line.send(text);
    return failure === null ? { ok: true } : { ok: false, error: this.#connectionLost(failure) };
  }

  async #advance() {
    try {
      while (this.#results.length === 0) {
        if (this.#isEnded) {
          this.close();
          return { done: true, value: undefined };
        }
        if (!this.#isStarted) await this.#connect();
        else if (!this.#settled.isResolved) await this.#settled.promise;
        else if (this.#line === null) await this.#reconnect();
        else await this.#receive(this.#line);
      }
      return { done: false, value: this.#take() };
    } catch (error) {
      // A `for await` loop does not close an iterator that throws.
      this.close();
      throw error;
    }
  }

  #take() {
    const { position, result } = this.#results.shift();
    if (position !== null) this.position = position;
    return result;
  }

  get #silence() {
    return 2 * (this.#heartbeat ?? this.#tracker.heartbeat ?? HEARTBEAT);
  }

  async #reconnect() {
    const delay = this.#isRestart
      ? this.#delays.nextAfterRestart()
      : this.#delays.next(this.#requestedDelay);
    if (delay === null) {
      this.#isEnded = true;
      return;
    }
    await this.#sleep(delay, this.#minimumDelay);
    if (!this.#isEnded) await this.#connect();
  }

  async #connect() {
    this.#isStarted = true;
    if (this.#settled.isResolved) this.#settled = signalOnce();
    const settled = this.#settled;
    try {
      const firstFrame = this.#tracker.begin();
      // The gateway compares the number with those of the same client: attempts can arrive late.
      this.#attempt += 1;
      const address = `${this.#address}&attempt=${this.#attempt}`;
      const line = new Line(this.#WebSocket, address, this.#protocols, {
        maxMessage: this.#maxMessage,
        world: this.#world,
      });
      this.#line = line;
      this.#openedAt = this.#world.now();
      const failure = await line.open(Math.min(OPEN_TIMEOUT, this.#silence));
      if (this.#isEnded) {
        line.close(NORMAL);
        return;
      }
      this.#openedAt = failure === null ? this.#world.now() : Infinity;
      this.#reply = null;
      this.#answerBy = this.#world.now() + this.#silence;
      const unsent = failure ?? line.send(firstFrame);
      if (unsent !== null) this.#lose(unsent);
    } finally {
      settled.resolve();
    }
  }

  /** Receive a frame, and queue its results. */
  async #receive(line) {
    if (this.#reply !== null) {
      line.send(this.#reply);
      this.#reply = null;
    }
    const arrived = await line.receive(this.#silence, this.#answerBy);
    if (this.#isEnded) return;
    if (arrived.text === undefined) {
      this.#lose(arrived.closed);
      return;
    }
    let received;
    try {
      received = this.#tracker.receive(arrived.text);
    } catch (error) {
      if (!(error instanceof DamagedFrame)) throw error;
      this.#lose(closed(INVALID_DATA, error.message));
      line.close(4400);
      return;
    }
    if (this.#tracker.isAnswered) this.#answerBy = Infinity;
    this.#results.push(...received.messages);
    this.#reply = received.reply;
    if (received.state !== undefined) this.state = received.state;
    if (received.messages.some(({ result }) => result.ok)) this.#delays.reset();
    if (received.notice !== null) this.#onNotice?.(received.notice);
  }

  /** Queue the loss of the connection, or end. */
  #lose(end) {
    const uptime = this.#uptime;
    if (uptime >= this.#silence / 2) this.#delays.reset();
    this.#line = null;
    if (end.code === NORMAL && this.#tracker.isWhole) {
      this.#isEnded = this.#isComplete = true;
      return;
    }
    const reason = end.reason || this.#tracker.reason;
    const error = (this.#lost = this.#connectionLost({ ...end, reason }, uptime));
    const refusal = accessError(end.code, reason, this.session);
    this.#isEnded = refusal !== null || end.code === REPLACED;
    const requested =
      this.#tracker.retryAfter ?? (end.code === TOO_MANY ? TOO_MANY_DELAY : null);
    this.#minimumDelay = requested ?? 0;
    this.#isRestart = end.code === RESTART && this.#delays.isFresh;
    if (this.#isRestart) this.#minimumDelay = 0;
    this.#requestedDelay = requested;
    this.#results.push({ position: null, result: { ok: false, error: refusal ?? error } });
  }

  get #uptime() {
    return this.#line === null ? 0 : Math.max(0, this.#world.now() - this.#openedAt);
  }

  #connectionLost({ code, reason }, uptime = this.#uptime) {
    return {
      type: "ConnectionLost",
      message: `The connection was lost (code ${code}).`,
      close_code: code,
      close_reason: reason,
      last_event_seq: this.#tracker.position?.seq ?? 0,
      uptime: uptime / 1000,
    };
  }

  /** Sleep; a hint that the network is back ends the sleep, but not before the minimum. */
  async #sleep(delay, minimum) {
    const { now, setTimeout: start, clearTimeout: stop } = this.#world;
    const begun = now();
    let timer;
    await new Promise((resolve) => {
      timer = start(resolve, Math.min(delay, MAX_TIMER));
      this.#wakeSleeper = (isForced) => {
        if (isForced || now() - begun >= minimum) resolve();
      };
    });
    stop(timer);
    this.#wakeSleeper = null;
  }

  #listen(signal) {
    const abort = () => this.close();
    const hint = () => {
      if (globalThis.document?.visibilityState === "hidden") return;
      this.#wakeSleeper?.(false);
      // The timers of a hidden page, or of a machine that slept, may be late.
      this.#line?.check();
    };
    if (signal?.aborted) this.#isEnded = true;
    signal?.addEventListener("abort", abort);
    const { window, document } = globalThis;
    window?.addEventListener("online", hint);
    document?.addEventListener("visibilitychange", hint);
    return () => {
      signal?.removeEventListener("abort", abort);
      window?.removeEventListener("online", hint);
      document?.removeEventListener("visibilitychange", hint);
    };
  }
}

/** Computes from frames the events that are new, the losses, and the frames to send. */
class Tracker {
  position;
  /** The interval of heartbeats that the gateway has announced, in milliseconds, or null. */
  heartbeat = null;
  retryAfter = null;
  reason = "";
  #top = null;
  #hasPosition = false;

  constructor(since) {
    this.position = since;
  }

  get isAnswered() {
    return this.#top !== null;
  }

  /** Whether every event has arrived that the answer of the gateway promised. */
  get isWhole() {
    return this.#top !== null && this.position.seq >= this.#top;
  }

  /** Return the first frame of a new connection. */
  begin() {
    this.#top = null;
    this.retryAfter = null;
    this.reason = "";
    this.#hasPosition = this.position !== null;
    if (!this.#hasPosition) return frame(CONNECT);
    return frame(RECONNECT, { epoch: this.position.epoch, last_seq: this.position.seq });
  }

  /** Return the content of a frame. Throws DamagedFrame. */
  receive(text) {
    const event = decodeEvent(text);
    // Only an error event directly before the close frame explains it.
    this.retryAfter = null;
    this.reason = "";
    return event.seq === undefined ? this.#receiveUnnumbered(event) : this.#receiveEvent(event);
  }

  #receiveEvent({ seq, at, event }) {
    const last = this.position;
    if (this.#top === null) {
      throw new DamagedFrame("an event came before the answer of the gateway");
    }
    if (seq <= last.seq) return received();
    this.position = { epoch: last.epoch, seq };
    const stored = { position: this.position, at, event };
    const message = { position: this.position, result: { ok: true, stored } };
    if (seq === last.seq + 1) return received([message]);
    return received([replayGap(last.seq + 1, seq, last.epoch), message]);
  }

  #receiveUnnumbered({ event: { event: name, content, metadata } }) {
    if (name.startsWith("error.")) {
      this.reason = content;
      const delay = metadata.retry_after_ms;
      if (typeof delay === "number" && delay >= 0) {
        this.retryAfter = Math.min(delay, MAX_RETRY_AFTER);
      }
    }
    if (name !== "system.notice" || metadata.replay === undefined) return received();
    if (this.#top !== null) return received();
    const { replay, epoch, top, requested, first_available: first, heartbeat } = metadata;
    const areNumbers = [requested, first, metadata.state_seq].every(
      (value) => value === undefined || value === null || isSeq(value),
    );
    if (!ANSWERS.includes(replay) || !isName(epoch) || !isSeq(top) || !areNumbers) {
      throw new DamagedFrame("the answer of the gateway is invalid");
    }
    if (typeof heartbeat === "number" && heartbeat > 0 && heartbeat * 1000 <= MAX_HEARTBEAT) {
      this.heartbeat = heartbeat * 1000;
    }
    const last = this.position ?? { epoch, seq: 0 };
    if (!this.#isConsistent(metadata, last)) {
      throw new DamagedFrame(`the answer ${replay} contradicts the request`);
    }
    return { ...this.#answer(metadata, last), notice: metadata };
  }

  /** Return whether an answer fits the request: a wrong one could repeat or skip events. */
  #isConsistent({ replay, epoch, top, first_available: first }, last) {
    const isOtherEpoch = epoch !== last.epoch;
    switch (replay) {
      case "new":
        return isOtherEpoch || top >= last.seq;
      case "unknown_epoch":
        return this.#hasPosition && isOtherEpoch;
      case "ack_ahead":
        return this.#hasPosition && !isOtherEpoch && top < last.seq;
      case "gap":
        return this.#hasPosition && !isOtherEpoch && last.seq + 1 < first && first <= top + 1;
      default:
        return !isOtherEpoch && top >= last.seq;
    }
  }

  #answer(notice, last) {
    const { replay, epoch, top, first_available: first } = notice;
    switch (replay) {
      case "unknown_epoch":
        return this.#restart(unknownEpoch(last.epoch, epoch));
      case "gap":
        return this.#restart(replayGap(last.seq + 1, first, epoch));
      case "ack_ahead":
        // The gateway has lost events that the client has: it will use their numbers again.
        return this.#restart(replayGap(last.seq + 1, top + 1, epoch));
      default:
        return this.#continue(notice, last);
    }
  }

  /** Expect the events, or a snapshot and the events after it. */
  #continue({ epoch, top, state = null, state_seq: stateSeq = null }, last) {
    const answer = received();
    if (epoch !== last.epoch) {
      answer.messages.push(unknownEpoch(last.epoch, epoch));
      last = { epoch, seq: 0 };
    }
    this.#top = top;
    if (stateSeq !== null && last.seq < stateSeq && stateSeq <= top) {
      answer.messages.push(replayGap(last.seq + 1, stateSeq + 1, epoch));
      last = { epoch, seq: stateSeq };
      answer.state = state;
    }
    this.position = last;
    return answer;
  }

  /** Continue at another position: the gateway waits for `user.connect`. */
  #restart(message) {
    this.position = message.position;
    this.#hasPosition = false;
    return received([message], frame(CONNECT));
  }
}

/** A WebSocket whose frames wait for the caller. */
class Line {
  #socket;
  #world;
  #maxMessage;
  #frames = [];
  #head = 0;
  #length = 0;
  #end = null;
  #lastArrival;
  #notify = null;

  constructor(WebSocket, address, protocols, { maxMessage, world }) {
    this.#world = world;
    this.#maxMessage = maxMessage;
    this.#lastArrival = world.now();
    const socket = (this.#socket = new WebSocket(address, protocols));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.check();
    socket.onmessage = ({ data }) => this.#arrive(data);
    // The `close` event that follows says all that an `error` event can say.
    socket.onerror = ignore;
    socket.onclose = ({ code, reason }) =>
      this.#finish(closed(code, code === ABNORMAL ? reason || "no close frame" : reason));
  }

  /** Wait until the WebSocket is open; return null, or the failure. */
  async open(timeout) {
    const deadline = this.#world.now() + timeout;
    while (this.#end === null && this.#socket.readyState === 0) {
      if (this.#world.now() >= deadline) {
        this.#giveUp(closed(ABNORMAL, `no connection after ${timeout / 1000} s`));
        break;
      }
      await this.#wait(deadline);
    }
    this.#lastArrival = this.#world.now();
    return this.#end;
  }

  /** Wait for a frame: `{text}`, or `{closed}` when the connection is lost. */
  async receive(silence, answerBy) {
    for (;;) {
      if (this.#head < this.#frames.length) return { text: this.#shift() };
      if (this.#end !== null) return { closed: this.#end };
      const deadline = Math.min(this.#lastArrival + silence, answerBy);
      if (this.#world.now() >= deadline) {
        const cause = deadline === answerBy ? "no answer" : "no data";
        this.#giveUp(closed(ABNORMAL, `${cause} for ${silence / 1000} s`));
        continue;
      }
      await this.#wait(deadline);
    }
  }

  /** Send a frame; return null, or the failure. */
  send(text) {
    if (this.#end !== null) return this.#end;
    if (this.#socket.readyState !== 1) return closed(ABNORMAL, "the connection is closing");
    if (this.#socket.bufferedAmount > this.#maxMessage) {
      return closed(ABNORMAL, "no room to send");
    }
    this.#socket.send(text);
    return null;
  }

  close(code) {
    this.#finish(closed(code, ""));
    this.#frames.length = this.#head = 0;
    this.#socket.onmessage = this.#socket.onopen = this.#socket.onclose = null;
    this.#socket.close(code);
  }

  /** Look at the deadline again. */
  check() {
    this.#notify?.();
  }

  #arrive(data) {
    if (this.#end !== null) return;
    this.#lastArrival = this.#world.now();
    if (typeof data !== "string") {
      this.#giveUp(closed(INVALID_DATA, "a frame is binary"));
    } else if (data.length > this.#maxMessage) {
      this.#giveUp(closed(TOO_LARGE, `a frame has more than ${this.#maxMessage} characters`));
    } else {
      this.#frames.push(data);
      this.#length += data.length;
      const count = this.#frames.length - this.#head;
      if (count > MAX_FRAMES || (count > 1 && this.#length > 2 * this.#maxMessage)) {
        // A WebSocket cannot be told to wait. The gateway repeats the events later.
        this.#giveUp(closed(OVERLOADED, "the caller takes the events too slowly"));
      }
    }
    this.check();
  }

  #shift() {
    const text = this.#frames[this.#head];
    this.#frames[this.#head] = undefined;
    this.#head += 1;
    this.#length -= text.length;
    if (this.#head * 2 > this.#frames.length) {
      this.#frames.splice(0, this.#head);
      this.#head = 0;
    }
    return text;
  }

  #giveUp(end) {
    this.#finish(end);
    this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
  }

  #finish(end) {
    this.#end ??= end;
    this.check();
  }

  async #wait(deadline) {
    const { now, setTimeout: start, clearTimeout: stop } = this.#world;
    let timer;
    await new Promise((resolve) => {
      this.#notify = resolve;
      timer = start(resolve, Math.min(Math.max(0, deadline - now()), MAX_TIMER));
    });
    stop(timer);
    this.#notify = null;
  }
}

/** Delays before the attempts to connect; they begin again after a connection that worked. */
class Delays {
  #backoff;
  #random;
  #delays;
  /** Whether no delay was used since the last connection that worked. */
  isFresh = true;

  constructor(delays, random) {
    this.#backoff = delays;
    this.#random = random;
    this.#delays = this.#begin();
  }

  reset() {
    this.#delays = this.#begin();
    this.isFresh = true;
  }

  /** Return the next delay, or null after the last one. `requested` is the gateway's, or null. */
  next(requested) {
    this.isFresh = false;
    const { done, value } = this.#delays.next();
    if (done) return null;
    if (!(value >= 0)) throw new RangeError(`A delay must be 0 or more, not ${value}.`);
    // Up to the same time is added, so that the clients do not return all at once.
    return requested === null ? value : Math.max(value, requested * (1 + this.#random()));
  }

  /** Return the delay after a restart of the gateway: at once, but not all clients together. */
  nextAfterRestart() {
    const delay = this.next(null);
    return delay === null ? null : Math.min(delay, this.#random() * RESTART_DELAY);
  }

  #begin() {
    return this.#backoff()[Symbol.iterator]();
  }
}

class DamagedFrame extends Error {}

function received(messages = [], reply = null) {
  return { messages, reply, notice: null };
}

function replayGap(requested, first_available, epoch) {
  const message =
    `Events from ${requested} on are deleted; the first available one is ${first_available}.`;
  const error = { type: "ReplayGap", message, requested, first_available };
  return { position: { epoch, seq: first_available - 1 }, result: { ok: false, error } };
}

function unknownEpoch(epoch, current) {
  const message = `The epoch ${quote(epoch)} has ended; the current one is ${quote(current)}.`;
  const error = { type: "UnknownEpoch", message, epoch, current };
  return { position: { epoch: current, seq: 0 }, result: { ok: false, error } };
}

function accessError(code, reason, session) {
  if (code === UNAUTHENTICATED) {
    const message = "This needs credentials (Bearer).";
    return { type: "Unauthenticated", message, scheme: "Bearer", reason: reason || null };
  }
  if (code !== FORBIDDEN && code !== NOT_FOUND) return null;
  const action = code === FORBIDDEN ? "connect to" : "see";
  const message = `You may not ${action} ${quote(session)}.`;
  return { type: "AccessDenied", message, action, resource: session };
}

function decodeEvent(text) {
  let body;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new DamagedFrame("a frame is not JSON", { cause: error });
  }
  if (!isObject(body)) throw new DamagedFrame("a frame is no object");
  const { event, seq, at = 0, content = "", metadata = {}, show_content = "" } = body;
  const texts = [event, content, show_content, body.session_id ?? ""];
  const isValid =
    texts.every((value) => typeof value === "string") &&
    Number.isFinite(at) &&
    isObject(metadata) &&
    (seq === undefined || (isSeq(seq) && seq > 0));
  if (!isValid) throw new DamagedFrame("a frame is no event");
  return { seq, at, event: { event, content, metadata, show_content } };
}

function frame(event, metadata) {
  return JSON.stringify({ event, metadata });
}

function closed(code, reason) {
  return { code, reason: reason.slice(0, MAX_REASON) };
}

function signalOnce() {
  const signal = { isResolved: false };
  signal.promise = new Promise((resolve) => {
    signal.resolve = () => {
      signal.isResolved = true;
      resolve();
    };
  });
  return signal;
}

/** Return a new name of a client. Pages without TLS have no `crypto.randomUUID`. */
function clientName() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function websocketUrl(url, session, locale, watch, client) {
  // The messages do not contain the URL: it may contain credentials.
  const example = "url must be the address of a gateway, such as https://example.org/live.";
  let address;
  try {
    address = new URL(url, globalThis.location?.href);
  } catch {
    throw new RangeError(example);
  }
  const scheme = SCHEMES[address.protocol];
  if (scheme === undefined) throw new RangeError(example);
  if (address.username || address.password) {
    throw new RangeError("url must not contain credentials: pass the token as the option token.");
  }
  if (address.search || address.hash) {
    throw new RangeError("url must end with the path of the gateway, without ? and #.");
  }
  if (typeof session !== "string") throw new TypeError("session must be a text.");
  if (["", ".", ".."].includes(session)) {
    throw new RangeError(`session must be the id of a session, not ${quote(session)}.`);
  }
  const query = [];
  if (locale !== null) query.push(`locale=${encodeURIComponent(locale)}`);
  if (watch) query.push("watch");
  query.push(`client=${client}`);
  const mount = address.pathname.replace(/\/+$/, "");
  const path = `${mount}/v1/sessions/${encodeURIComponent(session)}/ws`;
  return `${scheme}//${address.host}${path}?${query.join("&")}`;
}

function checkToken(token) {
  if (typeof token !== "string") throw new TypeError("token must be a text.");
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(token)) {
    throw new RangeError("token has characters that a WebSocket cannot send as a subprotocol.");
  }
  return token;
}

function checkPosition(position) {
  if (!isName(position?.epoch) || !isSeq(position.seq)) {
    throw new TypeError("A position is an object with an epoch (a text) and a seq (0 or more).");
  }
  return { epoch: position.epoch, seq: position.seq };
}

function checkFunction(name, value) {
  if (value !== undefined && value !== null && typeof value !== "function") {
    throw new TypeError(`${name} must be a function.`);
  }
}

function checkAbove(name, value) {
  if (value === null) return;
  if (typeof value !== "number" || !(value > 0)) {
    throw new RangeError(`${name} must be a number above 0, not ${String(value)}.`);
  }
}

function isSeq(value) {
  return Number.isSafeInteger(value) && value >= 0;
}

function isName(value) {
  return typeof value === "string" && value !== "";
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function quote(text) {
  return `'${text}'`;
}

function ignore() {}
