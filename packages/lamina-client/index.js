/** A memory on a server: every operation of its HTTP API, with answers and errors that have types. */

import { operations } from "./operations.js";

const RETRYABLE = new Set([408, 429, 503]);

/** What went wrong: a stable `code`, and a `hint` about what to do next. */
export class LaminaError extends Error {
  constructor(message, { status = 0, code, hint = "", requestId = "", errors = [], receipt = null, cause } = {}) {
    super(message, { cause });
    this.name = "LaminaError";
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.requestId = requestId;
    this.errors = errors;
    this.receipt = receipt;
    this.retryable = status === 0 ? code === "server_unreachable" : RETRYABLE.has(status);
  }
}

/** A server's memory; `scope` narrows it to a person, a session and a run. */
export class Lamina {
  #url;
  #token;
  #fetch;
  #timeoutMs;
  #who;

  constructor(url, token, { fetch = globalThis.fetch, timeoutMs = 60_000, user, session, run } = {}) {
    if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(String(url))) {
      throw new LaminaError("That is no address of a server.", {
        code: "url_invalid",
        hint: "Write it like http://127.0.0.1:8765.",
      });
    }
    if (!/^[\x21-\x7e]+$/.test(String(token))) {
      throw new LaminaError("That is no token.", {
        code: "token_invalid",
        hint: "Give what `lamina token create` showed.",
      });
    }
    this.#url = String(url).replace(/\/+$/, "");
    this.#token = token;
    this.#fetch = fetch;
    this.#timeoutMs = timeoutMs;
    this.#who = { user, session, run };
  }

  /** The same server for one person (a service's token acts for several), in a session, in a run. */
  scope(who = {}) {
    const more = { fetch: this.#fetch, timeoutMs: this.#timeoutMs };
    return new Lamina(this.#url, this.#token, { ...more, ...this.#who, ...who });
  }

  /** Send one request of the table; the methods below are made of it. */
  async request(name, request = {}, { signal, timeoutMs = this.#timeoutMs } = {}) {
    const [method, path, places, sends] = operations[name];
    const left = { ...request };
    const take = (field) => {
      const value = left[field];
      delete left[field];
      return value;
    };
    const where = path.replace(/\{(\w+)\}/g, (_, field) => {
      const value = take(field);
      if (value === undefined || value === null || value === "") {
        throw new LaminaError(`\`${field}\` is needed here.`, { code: "field_missing" });
      }
      return encodeURIComponent(String(value));
    });
    const headers = { authorization: `Bearer ${this.#token}`, accept: "application/json" };
    for (const [said, value] of Object.entries(this.#who)) {
      if (value !== undefined && value !== null) headers[`x-lamina-${said}`] = bytes(value);
    }
    for (const [field, wire] of Object.entries(places.header ?? {})) {
      const value = take(field);
      if (value !== undefined && value !== null) headers[wire] = bytes(value);
    }
    const query = new URLSearchParams();
    for (const [field, wire] of Object.entries(places.query ?? {})) {
      const value = take(field);
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined && one !== null) query.append(wire, String(one));
      }
    }
    if (sends) headers["content-type"] = "application/json";
    else if (Object.keys(left).length) {
      throw new LaminaError(`\`${Object.keys(left)[0]}\` cannot be said here.`, { code: "field_unknown" });
    }
    const init = { method, headers, signal: bounded(signal, timeoutMs), redirect: "error" };
    if (sends) init.body = JSON.stringify(left);
    return this.#answered(`${this.#url}${where}${query.size ? `?${query}` : ""}`, init);
  }

  async #answered(url, init) {
    let answer;
    let text;
    try {
      answer = await this.#fetch(url, init);
      text = await answer.text();
    } catch (cause) {
      throw new LaminaError("The server cannot be reached.", {
        code: "server_unreachable",
        hint: "Is `lamina serve` running there? Whether a change was made is not known.",
        cause,
      });
    }
    if (answer.status === 204) return undefined;
    const kind = answer.headers.get("content-type") ?? "";
    if (answer.ok && !/\bjson\b/.test(kind.replace("x-ndjson", ""))) return text;
    const body = parsed(text);
    if (answer.ok && body !== undefined) return body;
    if (!body || typeof body.code !== "string") {
      throw new LaminaError(`What answered (status ${answer.status}) is no Lamina server.`, {
        status: answer.status,
        code: "server_unknown",
        hint: "Check the address.",
      });
    }
    const wrong = (body.errors ?? []).map((one) => `${one.field}: ${one.message}`);
    throw new LaminaError([body.detail, ...wrong].join(" "), {
      status: answer.status,
      code: body.code,
      hint: body.hint ?? "",
      requestId: body.request_id ?? "",
      errors: body.errors ?? [],
      receipt: body.receipt ?? null,
    });
  }
}

for (const name of Object.keys(operations)) {
  Object.defineProperty(Lamina.prototype, name, {
    value(request, options) {
      return this.request(name, request, options);
    },
    configurable: true,
    writable: true,
  });
}

/** A header's text: UTF-8, of which each byte is a character. */
function bytes(value) {
  return String.fromCharCode(...new TextEncoder().encode(String(value)));
}

function bounded(signal, timeoutMs) {
  const limit = AbortSignal.timeout(timeoutMs);
  if (!signal) return limit;
  if (AbortSignal.any) return AbortSignal.any([signal, limit]);
  const both = new AbortController();
  for (const one of [signal, limit]) {
    if (one.aborted) both.abort(one.reason);
    else one.addEventListener("abort", () => both.abort(one.reason), { once: true });
  }
  return both.signal;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
