// What pages do beyond reading: search as you type, keys, questions before an end, and live changes.
// Everything works without it: each thing here is a form or a link that a browser can follow by itself.

const $ = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// On a narrow window the menu is a line that scrolls; the page that is open can be seen in it.
$("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// Search as you type: the table is asked for again, and the address says what is shown.
for (const form of all("form[data-live]")) {
  let waiting, latest = 0;
  const show = async () => {
    const number = ++latest;
    const pairs = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const answer = await fetch(`${form.action}?${pairs}&part=table`, { headers: { accept: "text/html" } });
    if (answer.status === 401) location.reload();
    if (!answer.ok || number !== latest) return;
    $(form.dataset.live).innerHTML = await answer.text();
    history.replaceState(null, "", `${form.action}?${pairs}`);
    tickAll();
  };
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(show, 180); });
}

// One box ticks all.
function tickAll() {
  const box = $("#all");
  if (box) box.onchange = () => all('input[name="id"]').forEach((one) => { if (one.type === "checkbox") one.checked = box.checked; });
}
tickAll();

// What cannot be taken back is asked about; what takes long says so, and is sent once.
for (const form of all("form[data-ask]")) {
  form.addEventListener("submit", (event) => { if (!confirm(form.dataset.ask)) event.preventDefault(); });
}
for (const form of all("form")) {
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (event.defaultPrevented || !button?.dataset.busy) return;
    setTimeout(() => { button.disabled = true; button.textContent = button.dataset.busy; });
  });
}

// The difference between old words and new ones, while they are typed.
const editor = $("[data-edit] textarea[data-old]");
if (editor && editor.dataset.old) {
  const pieces = (text) => text.match(/\s+|[A-Za-z0-9_'’-]+|./gsu) ?? [];
  const old = pieces(editor.dataset.old);
  const draw = () => {
    const now = pieces(editor.value), place = $("#preview");
    let start = 0, end = 0;
    while (start < old.length && start < now.length && old[start] === now[start]) start++;
    while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
    const part = (name, words) => { const made = document.createElement(name); made.textContent = words.join(""); return made; };
    const same = start === old.length && start === now.length;
    place.replaceChildren(...(same ? [] : [
      old.slice(0, start).join(""), part("del", old.slice(start, old.length - end)),
      part("ins", now.slice(start, now.length - end)), old.slice(old.length - end).join(""),
    ]));
  };
  editor.addEventListener("input", draw);
}

// A slider says its number.
for (const output of all("[data-output]")) {
  const range = document.getElementById(output.htmlFor.value);
  range.addEventListener("input", () => { output.value = range.value; });
}

// A file may be dropped on the form.
for (const form of all("form[data-drop]")) {
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    $('input[type="file"]', form).files = event.dataTransfer.files;
  });
}

// Keys: those that a page names, and in a queue y, n, e, j and k.
let place = 0;
const items = () => all("[data-item]");
const move = (step) => {
  place = Math.max(0, Math.min(items().length - 1, place + step));
  items()[place]?.focus();
};
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape" && typing) { typing.blur(); return; }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if ($("[data-queue]")) {
    const item = document.activeElement.closest("[data-item]") ?? items()[place];
    const act = { y: "yes", n: "no", e: "edit" }[event.key];
    if (event.key === "j" || event.key === "k") { event.preventDefault(); move(event.key === "j" ? 1 : -1); return; }
    if (item && act) {
      event.preventDefault();
      $(`[data-act="${act}"]`, item)?.click();
      if (act === "edit") $("textarea", item)?.focus();
      return;
    }
  }
  const named = all(`[data-key="${CSS.escape(event.key)}"]`)[0];
  if (!named) return;
  event.preventDefault();
  if (named.matches("input")) named.focus(); else named.click();
});

// What an agent writes shows up by itself: the badge, a line, and the list that stands on the page.
const badge = $("#waiting"), fresh = $("#fresh");
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
async function live(cursor) {
  for (;;) {
    if (document.hidden) { await pause(2); continue; }
    let answer;
    try {
      answer = await fetch(`/live?since=${encodeURIComponent(cursor)}`, { headers: { accept: "application/json" } });
    } catch { await pause(5); continue; }
    if (answer.status === 401) return;
    if (!answer.ok) { await pause(5); continue; }
    const told = await answer.json();
    badge.textContent = told.waiting || "";
    badge.dataset.count = told.waiting;
    if (told.cursor !== cursor) await show();
    cursor = told.cursor;
  }
}
async function show() {
  const editing = all("textarea, input").some((one) => one.type !== "hidden" && one.type !== "checkbox" && one.value !== one.defaultValue);
  const list = $("#newest") ?? $("#table");
  if (!list || editing) {
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = document.body.dataset.new;
    fresh.replaceChildren(link);
    fresh.hidden = false;
    return;
  }
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById(list.id);
  if (next) { list.replaceWith(next); next.classList.add("fresh-row"); tickAll(); }
}
if (document.body.dataset.cursor) live(document.body.dataset.cursor);
