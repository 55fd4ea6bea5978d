import type { Lamina } from "./index.js";

/** A tool as the AI SDK takes it. */
export interface LaminaTool<Schema = unknown> {
  description: string;
  inputSchema: Schema;
  execute(input: any, options: any): Promise<unknown>;
}

/**
 * What a model is offered of a memory, for `generateText({ tools })` of the AI SDK.
 * `jsonSchema` is the AI SDK's own function; `only` names some of the tools.
 */
export function laminaTools<Schema>(
  memory: Lamina,
  options: { jsonSchema: (schema: any) => Schema; only?: string[] },
): Record<string, LaminaTool<Schema>>;
