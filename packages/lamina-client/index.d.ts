import type { CallOptions, FieldError, Operations } from "./types.js";

export type * from "./types.js";

/** What went wrong: a stable `code`, and a `hint` about what to do next. */
export class LaminaError extends Error {
  constructor(message: string, about?: Partial<LaminaError> & { cause?: unknown });
  /** Of the HTTP answer; 0 where there was none. */
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly requestId: string;
  /** Which fields are wrong. */
  readonly errors: FieldError[];
  /** Of a request that policy denied. */
  readonly receipt: Record<string, unknown> | null;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
}

/** Who is asking, as far as the token leaves it open. */
export interface Who {
  /** One of the people whom a service's token acts for. */
  user?: string;
  session?: string;
  run?: string;
}

export interface LaminaOptions extends Who {
  fetch?: typeof globalThis.fetch;
  timeoutMs?: number;
}

/** A server's memory: every operation of its HTTP API. */
export class Lamina {
  constructor(url: string, token: string, options?: LaminaOptions);
  /** The same server for one person, in a session, in a run. */
  scope(who?: Who): Lamina;
  /** Send one request by the name of its operation. */
  request<Name extends keyof Operations>(
    name: Name,
    request?: Parameters<Operations[Name]>[0],
    options?: CallOptions,
  ): ReturnType<Operations[Name]>;
}

export interface Lamina extends Operations {}
