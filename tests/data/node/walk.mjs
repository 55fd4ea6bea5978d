import { Lamina, LaminaError } from "lamina-client";
const { LAMINA_URL, LAMINA_TOKEN, WHO, TEXT } = process.env;
const memory = new Lamina(LAMINA_URL, LAMINA_TOKEN).scope({ user: WHO, session: "คุย" });
const told = {};
const caught = async (work) => {
  try { await work(); return "nothing"; } catch (error) {
    if (!(error instanceof LaminaError)) throw error;
    return { code: error.code, status: error.status, hint: error.hint !== "", receipt: error.receipt?.code ?? null, fields: error.errors.map((one) => one.field), retryable: error.retryable };
  }
};
const made = await memory.remember({ text: TEXT, tags: ["a"], idempotencyKey: "k1" });
const again = await memory.remember({ text: TEXT, tags: ["a"], idempotencyKey: "k1" });
told.same = JSON.stringify(made) === JSON.stringify(again);
const id = made.ids[0];
const got = await memory.get({ id });
told.text = got.text;
told.found = (await memory.recall({ query: TEXT, k: 3 })).hits[0].id === id;
told.listed = (await memory.list({ tag: ["a"], limit: 5 })).items.length;
told.stale = await caught(() => memory.revise({ id, text: "x", ifMatch: '"99"' }));
told.revised = (await memory.revise({ id, text: TEXT + " 2", ifMatch: `"${got.revision}"` })).decision;
told.steps = (await memory.history({ id })).items.length;
told.held = (await memory.remember({ text: "brief", key: "response.tone" })).decision;
told.denied = await caught(() => memory.remember({ text: "my password is " + ["hunter2", "Blue"].join("-") }));
told.wrong = await caught(() => memory.recall({ query: "x", k: 0 }));
told.missing = await caught(() => memory.get({}));
told.unknown = await caught(() => memory.get({ id, colour: "red" }));
told.odd = await caught(() => memory.get({ id: "../status?x=1#y" }));
told.right = await caught(() => memory.tokens());
told.other = await caught(() => memory.scope({ user: "eve" }).recall({ query: "x" }));
told.nobody = await caught(() => new Lamina("http://127.0.0.1:1", "lam_x_y").me());
told.late = await caught(() => memory.changes({ wait: 20, since: "" }, { signal: AbortSignal.abort() }));
told.badUrl = await caught(async () => new Lamina("ftp://x", "t"));
told.badToken = await caught(async () => new Lamina("http://127.0.0.1", "a b"));
told.forgot = (await memory.forget({ id, reason: "done" })).decision;
told.export = typeof (await memory.export());
told.dot = (await memory.relations({ format: "dot" })).slice(0, 7);
told.health = (await memory.health()).status;
console.log(JSON.stringify(told));
