import { MemoryClient } from "mem0ai";

const { HOST, LAMINA_TOKEN, WHO, OTHER, TEXT, QUESTION } = process.env;
const client = new MemoryClient({ apiKey: LAMINA_TOKEN, host: HOST });
const told = {};
const filters = { user_id: WHO };
await client.ping();
const added = await client.add([{ role: "user", content: TEXT }], { userId: WHO, infer: false, metadata: { a: 1 } });
told.added = added.results.map((one) => [one.event, one.memory]);
const { id } = added.results[0];
const found = (await client.search(QUESTION, { filters, topK: 3, threshold: 0 })).results;
told.found = [found[0].id === id, found[0].userId, typeof found[0].score, typeof found[0].createdAt];
const all = await client.getAll({ filters: { AND: [filters] }, page: 1, pageSize: 10 });
told.all = [all.count, all.next, all.results.length];
told.got = (await client.get(id)).memory;
told.updated = (await client.update(id, { text: `${TEXT} 2` })).memory;
told.history = (await client.history(id)).map((one) => [one.event, one.newMemory]);
told.users = (await client.users()).results.map((one) => one.name).sort();
await client.batchUpdate([{ memoryId: id, text: `${TEXT} 3` }]);
told.batched = (await client.get(id)).memory;
told.heard = (await client.add([{ role: "user", content: "Remember that I live in Osaka" }], { userId: OTHER })).results.length > 0;
told.apart = (await client.search("Osaka", { filters })).results.every((one) => !one.memory.includes("Osaka"));
const refusal = async (work) => {
  try {
    await work();
    return "nothing";
  } catch (error) {
    return [error.constructor.name, error.message.includes("here")];
  }
};
told.missing = await refusal(() => client.get(`user:${encodeURIComponent("nobody")}:semantic:1`));
told.foreign = await refusal(() => client.getAll({ filters: { user_id: "eve" } }));
told.key = await refusal(() => new MemoryClient({ apiKey: "lam_a_b", host: HOST }).ping());
await client.batchDelete([id]);
told.left = (await client.getAll({ filters })).count;
await client.deleteAll({ userId: OTHER });
told.gone = (await client.getAll({ filters: { user_id: OTHER } })).count;
await client.add([{ role: "user", content: TEXT + " 4" }], { userId: OTHER, infer: false });
told.deleted = [(await client.deleteUsers({ userId: OTHER })).message, (await client.getAll({ filters: { user_id: OTHER } })).count];
await client.add([{ role: "user", content: TEXT + " 6" }], { userId: OTHER, infer: false });
await client.deleteUser({ entity_id: OTHER });
told.old = (await client.getAll({ filters: { user_id: OTHER } })).count;
const last = (await client.add([{ role: "user", content: TEXT + " 5" }], { userId: WHO, infer: false })).results[0].id;
told.one = (await client.delete(last, { deleteLinked: true })).message;
console.log(JSON.stringify(told));
