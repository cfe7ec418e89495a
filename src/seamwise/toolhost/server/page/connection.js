/** The connection to the session of the page: begins it, resumes it, and can be cut by hand. */

import { backoff, connect } from "./client.js";

/** In seconds: after the button has cut the connection, it comes back by itself. */
export const CUT_SECONDS = 8;

const SESSION_KEY = "seamwise.session";

/** The WebSocket close code for a connection that a newer one replaces, e.g. of another tab. */
const REPLACED = 4409;

/** In milliseconds: the maximum time between two attempts to connect, to a server that is near. */
const MAX_DELAY = 4000;

/** In milliseconds: the time before the page asks again for a session that it could not begin. */
const RETRY_DELAY = 2000;

/**
 * @typedef {"connecting" | "connected" | "resuming" | "lost" | "cut" | "replaced" | "refused"} State
 *
 * @typedef {object} Listener
 * @property {(state: State, details: {seconds?: number}) => void} onState
 * @property {(item: Item) => void} onEvent
 * @property {(kind: "cut" | "resumed" | "gap" | "new", details: Record<string, any>) => void} onMark
 * @property {() => void} onReset the events come again from the first one
 *
 * @typedef {object} Item
 * @property {number} seq
 * @property {number} at milliseconds since 1970
 * @property {any} event
 * @property {boolean} isReplayed whether the page missed it while it was not connected
 * @property {boolean} isOld whether it happened before the page was opened
 */

/** The server refuses the token. */
export class Refused extends Error {}

export class Connection {
  #token;
  #locale;
  #listener;
  #session = null;
  #client = null;
  #position = null;
  /** The events up to this number are missed or old ones. */
  #replayTop = 0;
  #isRecovering = false;
  #wasLost = false;
  /** Whether the session is a new one, which the old one had to be replaced with. */
  #isRenewed = false;
  #countdown = 0;
  /** Resolves when a person lets the page connect again; null: nobody has cut the connection. */
  #resume = null;

  /**
   * @param {string} token
   * @param {string} locale
   * @param {Listener} listener
   */
  constructor(token, locale, listener) {
    this.#token = token;
    this.#locale = locale;
    this.#listener = listener;
  }

  /** The number of the last event that has arrived. */
  get lastSeq() {
    return this.#position?.seq ?? 0;
  }

  /** Return the data of a response; throw `Refused` if the token is wrong. */
  async request(path, options = {}) {
    const response = await fetch(path, {
      ...options,
      headers: { ...options.headers, authorization: `Bearer ${this.#token}` },
      credentials: "omit",
      cache: "no-store",
    });
    if (response.status === 401) throw new Refused("The server does not know this token.");
    const body = await response.json();
    if (!body.success) throw new Error(body.error.message);
    return body.data;
  }

  /** Begin the session, or go on with that of this tab, and keep it connected. */
  async open() {
    this.#session = sessionStorage.getItem(SESSION_KEY) ?? (await this.#begin());
    this.#keepConnected();
  }

  /** Send an event; return whether it was written to the connection. */
  async send(event) {
    if (this.#client === null) return false;
    const { ok } = await this.#client.send(event);
    return ok;
  }

  /** Cut the connection; it is resumed after some seconds, or by `reconnect`. */
  cut() {
    if (this.#resume !== null || this.#client === null) return;
    this.#listener.onMark("cut", { seq: this.lastSeq });
    let seconds = CUT_SECONDS;
    this.#countdown = setInterval(() => {
      seconds -= 1;
      if (seconds > 0) this.#listener.onState("cut", { seconds });
      else this.reconnect();
    }, 1000);
    this.#wasLost = true;
    this.#wait("cut", { seconds });
    this.#close();
  }

  /** Resume a connection that `cut` has cut, or that another tab has taken. */
  reconnect() {
    if (this.#resume === null) return;
    clearInterval(this.#countdown);
    this.#listener.onState("resuming", {});
    this.#resume.resolve();
    this.#resume = null;
  }

  /** Receive all events again, with the texts for the person in another language. */
  relocalize(locale) {
    if (locale === this.#locale) return;
    this.#locale = locale;
    this.#position = null;
    this.#wasLost = false;
    this.#close();
  }

  async #begin() {
    const { session_id } = await this.request("/v1/sessions", { method: "POST" });
    sessionStorage.setItem(SESSION_KEY, session_id);
    return session_id;
  }

  #wait(state, details) {
    let resolve;
    const promise = new Promise((done) => {
      resolve = done;
    });
    this.#resume = { promise, resolve };
    this.#listener.onState(state, details);
  }

  #close() {
    const client = this.#client;
    this.#client = null;
    client?.close();
  }

  async #keepConnected() {
    for (;;) {
      if (this.#resume !== null) await this.#resume.promise;
      const client = this.#connect();
      let last = null;
      for await (const result of client) {
        if (client !== this.#client) break;
        last = result;
        if (result.ok) this.#receive(result.stored);
        else this.#report(result.error);
      }
      // A person has cut the connection, or the language has changed.
      if (client !== this.#client) continue;
      this.#client = null;
      if (!last?.ok && last?.error.close_code === REPLACED) {
        this.#wasLost = true;
        this.#wait("replaced", {});
      } else if (!(await this.#renew())) return;
    }
  }

  #connect() {
    if (this.#position === null) this.#listener.onReset();
    if (this.#isRenewed) this.#listener.onMark("new", {});
    this.#isRenewed = false;
    const client = connect(location.origin, this.#session, {
      token: encodeToken(this.#token),
      since: this.#position,
      locale: this.#locale,
      backoff: () => backoff({ cap: MAX_DELAY }),
      onNotice: (notice) => {
        if (client === this.#client) this.#welcome(notice);
      },
    });
    this.#client = client;
    return client;
  }

  /** Begin another session: the old one has ended, or its server is gone. */
  async #renew() {
    for (;;) {
      try {
        this.#session = await this.#begin();
        break;
      } catch (error) {
        this.#listener.onState(error instanceof Refused ? "refused" : "lost", {});
        if (error instanceof Refused) return false;
        await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
      }
    }
    this.#position = null;
    this.#wasLost = false;
    this.#isRenewed = true;
    return true;
  }

  /** Take the first notice of a connection into account. */
  #welcome({ epoch, top, replay }) {
    this.#position ??= { epoch, seq: 0 };
    if (this.#wasLost && (replay === "complete" || replay === "nothing_missed")) {
      this.#listener.onMark("resumed", { count: top - this.lastSeq });
    }
    if (replay === "gap" || replay === "unknown_epoch" || replay === "ack_ahead") return;
    this.#replayTop = top;
    this.#isRecovering = this.#wasLost;
    this.#wasLost = false;
    this.#listener.onState("connected", {});
  }

  #receive({ position, at, event }) {
    this.#position = position;
    const isReplay = position.seq <= this.#replayTop;
    this.#listener.onEvent({
      seq: position.seq,
      at: at * 1000,
      event,
      isReplayed: isReplay && this.#isRecovering,
      isOld: isReplay && !this.#isRecovering,
    });
  }

  #report(error) {
    switch (error.type) {
      case "ConnectionLost":
        if (!this.#wasLost && this.#position !== null) {
          this.#listener.onMark("cut", { seq: this.lastSeq });
        }
        this.#wasLost = this.#position !== null;
        this.#listener.onState("lost", {});
        break;
      case "ReplayGap":
        this.#listener.onMark("gap", { from: error.requested, to: error.first_available - 1 });
        break;
      case "UnknownEpoch":
        this.#position = null;
        this.#listener.onReset();
        this.#listener.onMark("new", {});
    }
  }
}

/** Return a token in characters that a subprotocol of a WebSocket can have. */
function encodeToken(token) {
  return encodeURIComponent(token).replace(/[()]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}
