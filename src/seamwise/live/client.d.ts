/** Types of `client.js`, the client of a gateway of live sessions. */

/** A place in the events of a session: behind the event with the number `seq`. */
export interface Position {
  readonly epoch: string;
  readonly seq: number;
}

/** An event, as the application or the user said it. */
export interface Event {
  /** The name, such as `agent.thinking` or `user.message`. */
  readonly event: string;
  /** The text for programs and developers. */
  readonly content: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The text for the user, in the language of the connection. */
  readonly show_content: string;
}

/** An event with its number. */
export interface Stored {
  readonly position: Position;
  /** The time at which it was stored, in seconds since 1970. */
  readonly at: number;
  readonly event: Event;
}

/** The connection was lost, or an attempt to connect failed. The client connects again. */
export interface ConnectionLost {
  readonly type: "ConnectionLost";
  readonly message: string;
  readonly close_code: number;
  readonly close_reason: string;
  readonly last_event_seq: number;
  /** The time for which the connection was open, in seconds; 0 for a failed attempt. */
  readonly uptime: number;
}

/** Events are deleted, from `requested` up to the one before `first_available`. */
export interface ReplayGap {
  readonly type: "ReplayGap";
  readonly message: string;
  readonly requested: number;
  readonly first_available: number;
}

/** The event numbers belong to a deleted event log. The client continues from the beginning. */
export interface UnknownEpoch {
  readonly type: "UnknownEpoch";
  readonly message: string;
  readonly epoch: string;
  readonly current: string;
}

/** The token is missing or invalid. The client ends. */
export interface Unauthenticated {
  readonly type: "Unauthenticated";
  readonly message: string;
  readonly scheme: string;
  readonly reason: string | null;
}

/** The token does not allow this, or there is no such session. The client ends. */
export interface AccessDenied {
  readonly type: "AccessDenied";
  readonly message: string;
  readonly action: string;
  readonly resource: string;
}

/** The session has ended. */
export interface StreamClosed {
  readonly type: "StreamClosed";
  readonly message: string;
  readonly stream: string;
}

export type AccessError = Unauthenticated | AccessDenied;
export type ClientError = ReplayGap | UnknownEpoch | ConnectionLost | AccessError;

/** An event, or a loss. */
export type Result =
  | { readonly ok: true; readonly stored: Stored }
  | { readonly ok: false; readonly error: ClientError };

/** Whether an event was written to the connection; its return as an event proves its arrival. */
export type SendResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly error: ConnectionLost | StreamClosed };

/** The answer of the gateway at the beginning of a connection. */
export interface Notice {
  readonly replay: "complete" | "nothing_missed" | "gap" | "unknown_epoch" | "ack_ahead" | "new";
  readonly epoch: string;
  readonly top: number;
  readonly requested?: number;
  readonly first_available?: number;
  /** The interval of heartbeats, in seconds. */
  readonly heartbeat?: number;
  /** The snapshot that replaces the events up to `state_seq`. */
  readonly state?: unknown;
  readonly state_seq?: number;
}

/** The clock, the timers and the randomness, which tests can replace. */
export interface World {
  /** Return a time that never goes back, in milliseconds. */
  now(): number;
  setTimeout(callback: () => void, delay: number): unknown;
  clearTimeout(timer: unknown): void;
  /** Return a number in [0, 1). */
  random(): number;
}

/** The part of a WebSocket that the client uses. */
export interface Socket {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  onopen: unknown;
  onmessage: unknown;
  onerror: unknown;
  onclose: unknown;
  send(text: string): void;
  close(code?: number): void;
}

export interface Options {
  /** The token. It is sent as a subprotocol, and never in the URL. */
  readonly token?: string | null | undefined;
  /** The position behind the last event that the caller has; null: from the first that is kept. */
  readonly since?: Position | null | undefined;
  /**
   * Return the delays before the attempts to connect again, in milliseconds. The client ends after
   * the last one. Default: `backoff()`, which does not end. They begin again after a connection
   * that brought a new event or lasted for a heartbeat.
   */
  readonly backoff?: (() => Iterable<number>) | undefined;
  /** The language of `show_content`, such as `zh_CN`; null: that of the gateway. */
  readonly locale?: string | null | undefined;
  /** Whether the connection only watches. One that does not takes over from an older one. */
  readonly watch?: boolean | undefined;
  /**
   * The interval of the gateway's heartbeats, in milliseconds. A connection without data for two
   * heartbeats is lost. null: the interval that the gateway announces, or 15 s.
   */
  readonly heartbeat?: number | null | undefined;
  /** The maximum length of a frame that is received, in characters. Default: 16 Mi. */
  readonly maxMessage?: number | undefined;
  /** Closes the connection and ends the iteration. */
  readonly signal?: AbortSignal | null | undefined;
  /** Called with each answer of the gateway, before the events that it announces. */
  readonly onNotice?: ((notice: Notice) => void) | null | undefined;
  readonly world?: Partial<World> | undefined;
  /** The class of the WebSocket. Default: that of the browser, or of Node 22 and later. */
  readonly WebSocket?: (new (url: string, protocols: string[]) => Socket) | undefined;
}

/**
 * A client of a session. It connects at the first step of the iteration, or at the first `send`;
 * after a loss it connects again by itself, and continues behind the last event.
 *
 * It returns each event once, in order, and reports every loss. It ends after the last event of the
 * session, after an AccessError, after a ConnectionLost with the code 4409 (a newer connection has
 * taken over), after the last delay of the backoff, and when it is closed. Leaving the loop closes
 * the connection.
 */
export interface Connection extends AsyncIterableIterator<Result> {
  readonly session: string;
  /** The position behind the last result, for `since` of a later client; null before it. */
  readonly position: Position | null;
  /** The snapshot that replaces the events of the last reported gap, or null. */
  readonly state: unknown;
  next(): Promise<IteratorResult<Result, undefined>>;
  return(): Promise<IteratorResult<Result, undefined>>;
  /**
   * Send an event to the application, such as `user.message`. It is never kept for later: without a
   * connection the result is a failure. During an attempt to connect, it waits for the end of that.
   * @throws TypeError: It is no event, or JSON cannot represent it.
   * @throws RangeError: The name does not begin with `user.`, or belongs to the protocol, such as
   *     `user.ack`; or the connection only watches.
   */
  send(event: Pick<Event, "event"> & Partial<Event>): Promise<SendResult>;
  /** Let the gateway delete the events up to a position: they are gone for every reader. */
  acknowledge(position?: Position | null): Promise<SendResult>;
  /** Close the connection, and end the iteration. */
  close(): void;
}

/**
 * Create a client of a session.
 *
 * @param url The address at which the gateway is mounted, such as `https://example.org/live`.
 * @param session The id of the session.
 * @throws TypeError, RangeError: An argument is wrong.
 */
export function connect(url: string, session: string, options?: Options): Connection;

/** Return an endless iterator over delays with full jitter, in milliseconds. */
export function backoff(options?: {
  readonly base?: number;
  readonly factor?: number;
  readonly cap?: number;
  readonly random?: () => number;
}): Generator<number, never, undefined>;
