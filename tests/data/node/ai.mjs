import { generateText, jsonSchema, stepCountIs, simulateReadableStream } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Lamina } from "lamina-client";
import { laminaTools } from "lamina-client/ai";
const memory = new Lamina(process.env.LAMINA_URL, process.env.LAMINA_TOKEN);
let turn = 0;
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const seen = [];
const model = new MockLanguageModelV3({ doGenerate: async (asked) => {
  seen.push(asked);
  return turn++ === 0
    ? { finishReason: { unified: "tool-calls" }, usage, warnings: [], content: [{ type: "tool-call", toolCallId: "1", toolName: "memory_recall", input: JSON.stringify({ query: "what does Ana drink?" }) }] }
    : { finishReason: { unified: "stop" }, usage, warnings: [], content: [{ type: "text", text: "tea" }] };
} });
const done = await generateText({ model, prompt: "What do I drink?", tools: laminaTools(memory, { jsonSchema }), stopWhen: stepCountIs(3) });
const result = done.steps[0].toolResults[0].output;
console.log(JSON.stringify({ text: done.text, hit: result.hits[0].text, offered: seen[0].tools.map((one) => one.name) }));
