/** Tools for the Vercel AI SDK: what a model is offered of a memory, called through the client. */

import { tools } from "./tools.js";

/** `{ jsonSchema }` is the AI SDK's own; `only` names some of the tools. */
export function laminaTools(memory, { jsonSchema, only = Object.keys(tools) }) {
  const found = {};
  for (const name of only) {
    if (!Object.hasOwn(tools, name)) throw new RangeError(`There is no tool ${name}.`);
    const { operation, description, inputSchema } = tools[name];
    found[name] = {
      description,
      inputSchema: jsonSchema(inputSchema),
      execute: (input, options) => memory.request(operation, input, { signal: options?.abortSignal }),
    };
  }
  return found;
}
