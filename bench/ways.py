"""The ways back: what a person said no to, brought back by every way and door there is.

    python -m bench.ways [--noes forgotten ...] [--languages en ...] [--show]
    python -m bench.ways --list 2 --every 10

For each kind of no and each language a person says no to a statement; then an agent, a tool, a job, another
program or an old file brings it back by one way after the other. It is back where its words stand in a memory
that is active or waits, or in what an agent reads. The control takes the same ways where nobody said no: how
many of them work at all. A list has ten statements in each language; with `--every 10` each comes back by
a tenth of them, another tenth after each kind of no, so that together they take all of them.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import gzip
import importlib
import json
import os
import quopri
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import apsw
from fastapi.testclient import TestClient
from mcp import Client

import lamina
from lamina.doors.http.app import create_app
from lamina.doors.mcp.identity import Starter
from lamina.doors.mcp.server import build_server
from lamina.errors import LaminaError
from lamina.imports.detect import READERS, find
from lamina.imports.turn import ImportedFact, ImportedTurn, ReadUpTo
from lamina.integrations.items import Items
from lamina.integrations.langgraph.store import Store
from lamina.layers.insights import keep
from lamina.policy.consent import same_value

SAID = {
    "en": ("My cousin Ferelith sold the orchard near Dunmore", "Ferelith"),
    "th": ("พี่สาวของฉันชื่อเกวลินเลิกกับสามีเมื่อปีที่แล้วที่ลำปาง", "เกวลิน"),
    "zh": ("我的表姐方若琳去年在大理卖掉了果园还债", "方若琳"),
    "zh-hant": ("我的表姊方若琳去年在臺東賣掉了果園還債", "方若琳"),
}
TRANSCRIPTS = Path(__file__).parents[1] / "tests" / "data" / "transcripts"
_CYRILLIC = str.maketrans("aeopcx", "аеорсх")
_GREEK = str.maketrans("oavitk", "οανιτκ")


class World:
    """A workspace with its doors."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.engine = lamina.open(folder / "w", owner="ana", understanding=False)
        rights = ["read", "write"]
        _, secret = self.engine.scope().create_token("agent", user="ana", agent="planner", rights=rights)
        headers = {"Authorization": f"Bearer {secret}"}
        self.http = TestClient(create_app(self.engine), base_url="http://127.0.0.1:8765", headers=headers)
        self.made = 0

    def agent(self, session: str = "s2", **more: Any) -> Any:
        return self.engine.scope(agent="planner", speaks_for=False, session=session, project="p", **more)

    def me(self) -> Any:
        return self.engine.scope(session="s1", project="p")

    def tool(self, role: str = "tool") -> Any:
        return self.engine.scope(role=role, agent="crm", session="s2", project="p")

    def call(self, tool: str, **arguments: Any) -> None:
        """A tool over MCP, as an agent's client calls it."""

        async def conversation() -> None:
            server = build_server(Starter(self.engine, self.agent()), tools="all")
            async with Client(server) as client:
                await client.call_tool(tool, arguments)

        asyncio.run(conversation())

    def post(self, path: str, **body: Any) -> None:
        self.http.post(path, json=body)

    def place(self) -> Path:
        self.made += 1
        folder = self.folder / f"f{self.made}"
        folder.mkdir()
        return folder

    def close(self) -> None:
        self.engine.close()


Way = Callable[[World, str], Any]


def _said(spelt: Callable[[str], str]) -> Way:
    return lambda w, s: w.agent().remember(spelt(s))


def _struck(text: str) -> str:
    return "".join(f"{one}\u0336" for one in text)


def _mathematical(text: str) -> str:
    bold = {one: chr(0x1D41A + ord(one) - 97) for one in map(chr, range(97, 123))}
    return "".join(bold.get(one, one) for one in text.lower())


def _circled(text: str) -> str:
    return "".join(chr(0x24D0 + ord(one) - 97) if "a" <= one <= "z" else one for one in text.lower())


def _tagged(text: str) -> str:
    return "".join(f"{one}{chr(0xE0020)}" for one in text)


def _marked(text: str) -> str:
    """Acute accents over every letter."""
    return "".join(f"{one}\u0301" if one.isalpha() else one for one in text)


def _zipped(data: bytes) -> bytes:
    return base64.b64encode(gzip.compress(data, mtime=0))


def _code(spell: Callable[[bytes], bytes]) -> Callable[[str], str]:
    return lambda s: spell(s.encode()).decode()


SPELLINGS: dict[str, Callable[[str], str]] = {
    "the same words": lambda s: s,
    "shouted": str.upper,
    "Cyrillic letters": lambda s: s.translate(_CYRILLIC),
    "Greek letters": lambda s: s.translate(_GREEK),
    "mathematical letters": _mathematical,
    "circled letters": _circled,
    "struck out": _struck,
    "invisible letters": "\u200b".join,
    "invisible tags": _tagged,
    "full width": lambda s: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in s),
    "points between letters": ".".join,
    "blanks between letters": " ".join,
    "a line each": lambda s: s.replace(" ", "\n"),
    "dashes for blanks": lambda s: s.replace(" ", "-"),
    "in a table": lambda s: f"| what | who |\n|---|---|\n| {s} | ana |",
    "in a comment": lambda s: f"# note\n# {s}\nx = 1",
    "in HTML": lambda s: "".join(f"&#{ord(one)};" for one in s),
    "in JSON's escapes": lambda s: "".join(f"\\u{ord(one):04x}" for one in s),
    "in hexadecimal escapes": lambda s: "".join(f"\\x{one:02x}" for one in s.encode()),
    "base64": _code(base64.b64encode),
    "base64 for addresses": _code(base64.urlsafe_b64encode),
    "base32": _code(base64.b32encode),
    "base64 twice": _code(lambda b: base64.b64encode(base64.b64encode(b))),
    "hexadecimal": lambda s: s.encode().hex(),
    "percent codes": quote,
    "in a list": lambda s: f"- rain\n- {s}\n- wind",
    "as JSON": lambda s: json.dumps({"fact": s}, ensure_ascii=False),
    "inside a long text": lambda s: f"Notes of the day. {s}. The weather was fine and the lift works.",
    "with a preface": lambda s: f"For the record: {s}",
    "each word bold": lambda s: " ".join(f"**{one}**" for one in s.split()),
    "each word in a tag": lambda s: "".join(f"<w>{one}</w>" for one in s.split()),
    "faces between words": lambda s: " \U0001f600 ".join(s.split()),
    "CamelCase": lambda s: "".join(one[:1].upper() + one[1:] for one in s.split()),
    "snake_case": lambda s: "_".join(s.lower().split()),
    "accents": _marked,
    "soft hyphens": "\u00ad".join,
    "right to left marks": lambda s: f"\u202e{s}\u202c",
    "plus signs for blanks": lambda s: f"https://x.example/?q={quote(s, safe=' ').replace(' ', '+')}",
    "a mail's escapes": _code(lambda b: quopri.encodestring(b, quotetabs=True)),
    "UTF-7": lambda s: s.encode("utf-7").decode(),
    "HTML without its semicolons": lambda s: "".join(f"&#x{ord(one):x}" for one in s),
    "decimal codes": lambda s: " ".join(str(one) for one in s.encode()),
    "bits": lambda s: " ".join(f"{one:08b}" for one in s.encode()),
    "base85": _code(base64.b85encode),
    "zipped, in base64": _code(_zipped),
    "in YAML": lambda s: f"about:\n  user: >-\n    {s}\n",
    "a row of CSV": lambda s: f'1,"{s}",yes',
}


def _revised(w: World, said: str) -> None:
    agent = w.agent()
    agent.revise(agent.remember(f"Nobody minds note {w.made}").ids[0], said)


def _merged(w: World, said: str) -> None:
    agent = w.agent()
    ids = [agent.remember(text).ids[0] for text in (f"{said} indeed", f"{said} really")]
    agent.merge(ids)


def _unmerged(w: World, _: str) -> None:
    for one in w.agent().list(limit=50).items:
        with suppress(LaminaError):
            w.agent().unmerge(one.id)


def _restored(w: World, _: str) -> None:
    for state in ("soft_deleted", "archived", "superseded", "expired"):
        for one in w.me().list(limit=50, states=[state]).items:
            with suppress(LaminaError):
                w.agent().restore(one.id)


def _promoted(w: World, said: str) -> None:
    kept = w.agent().remember(said, space="session")
    w.agent().promote(kept.ids[0], "user")


def _graph(value: Callable[[str], Any], namespace: str = "notes") -> Way:
    return lambda w, s: Store(w.agent()).put((namespace,), "one", value(s))


def _insight(w: World, said: str) -> None:
    keep(w.engine.scope(role="system", via="job"), [{"summary": said, "importance": 3}], "job")


def _three_sessions(w: World, said: str) -> None:
    for session in ("a", "b", "c"):
        w.agent(session).propose(said, "goal.this", 1.0, importance=5)


def _anthropic(w: World, said: str) -> None:
    tool = importlib.import_module("lamina.integrations.anthropic").MemoryTool(w.agent())
    tool.execute(SimpleNamespace(command="create", path="/memories/notes.txt", file_text=said))


def _hermes(w: World, said: str) -> None:
    heard = importlib.import_module("lamina.integrations.heard")
    heard.hear_once(w.agent(), f"hermes:{w.made}:{said}", False, said)


def _agents_jobs(w: World, said: str) -> None:
    w.agent().answer(f"Noted: {said}.")
    for job in ("micro-sync", "daily-wrap-up", "consolidate"):
        with suppress(LaminaError):
            w.engine.scope(role="system", via="job").run_job(job)


def _lines(name: str, *rows: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / name
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        return path

    return write


def _imported(format_: str) -> Way:
    """A file of this format as some program wrote it, with the words in the place of what it said."""

    def way(w: World, said: str) -> None:
        folder = w.place()
        shutil.copytree(TRANSCRIPTS / format_, folder / "x")
        for file in find(folder / "x", "auto"):
            path = Path(file.path)
            items = [
                one
                for one in READERS[file.format](file, ReadUpTo())
                if isinstance(one, ImportedTurn | ImportedFact)
            ]
            body = path.read_text("utf-8")
            for words in sorted({one.text for one in items}, key=len, reverse=True):
                for form in (json.dumps(words), json.dumps(words, ensure_ascii=False)):
                    body = body.replace(form[1:-1], json.dumps(said)[1:-1])
            path.write_text(body, "utf-8")
        w.me().import_files([folder / "x"])

    return way


def _omi(w: World, said: str) -> None:
    head = {"format": "open-memory-interchange", "version": "0.1", "serialization": "jsonl"}
    head |= {"subject": {"id": "u", "type": "person", "label": "Ana"}, "generated_at": "2026-06-06T09:00:00Z"}
    one = {"id": "01JZ0WFR4K2Q6N7S8T9V0ABCD1", "content": said, "type": "semantic"}
    made = _lines("m.omi.jsonl", {**head, "generator": "x/1"}, {**one, "created": "2026-01-01T09:02:11Z"})
    w.me().import_files([made(w.place())])


def _cogx(w: World, said: str) -> None:
    base = {"external_system": "mem0", "created_at": "2026-01-02T10:00:00Z", "scope": {"user_id": "ana"}}
    folder = w.place()
    _lines("memories.jsonl", {**base, "kind": "memory", "external_id": "m1", "content": said})(folder)
    w.me().import_files([folder], format="cogx")


def _note(w: World, said: str) -> None:
    folder = w.place()
    (folder / "note.md").write_text(
        f"---\ntitle: Note\ntype: note\npermalink: note\n---\n\n# Note\n\n## Observations\n- [fact] {said}\n",
        "utf-8",
    )
    w.me().import_files([folder], format="basic-memory")


def _own_export(w: World, said: str) -> None:
    """An export of another memory that still has it, in our own form."""
    folder = w.place()
    with lamina.open(folder / "other", owner="ana", understanding=False) as other:
        other.scope().remember(said)
        other.scope().export(folder / "out")
    w.me().import_files([folder / "out"])


def _bundle(w: World, said: str) -> None:
    folder = w.place()
    with lamina.open(folder / "other", owner="ana", understanding=False) as other:
        other.scope().remember(said)
        other.scope().export(folder / "out", "omi")
    w.me().import_files([folder / "out"])


WAYS: dict[str, dict[str, Way]] = {
    "spellings": {name: _said(spelt) for name, spelt in SPELLINGS.items()},
    "Python": {
        "another kind": lambda w, s: w.agent().remember(s, kind="instruction"),
        "of importance 5, pinned": lambda w, s: w.agent().remember(s, importance=5, pin=True),
        "a tag": lambda w, s: w.agent().remember("Nobody minds a tag", tags=[s]),
        "a reason": lambda w, s: w.agent().remember("Nobody minds a reason", reason=s),
        "a reference": lambda w, s: w.agent().remember("Nobody minds a reference", reference=s),
        "a key": lambda w, s: w.agent().remember(s, key="fact.one"),
        "in the session": lambda w, s: w.agent().remember(s, space="session"),
        "in the project": lambda w, s: w.agent().remember(s, space="project"),
        "another agent": lambda w, s: w.engine.scope(agent="writer").remember(s),
        "many at once": lambda w, s: w.agent().remember_many([{"text": "Tea at four"}, {"text": s}]),
        "revised": _revised,
        "merged": _merged,
        "unmerged": _unmerged,
        "restored": _restored,
        "promoted": _promoted,
        "learnt": lambda w, s: w.agent().learn(s),
        "learnt as a correction": lambda w, s: w.agent().learn(s, origin="correction"),
        "a procedure's step": lambda w, s: w.agent().learn_procedure("a visit", [s]),
        "a procedure's trigger": lambda w, s: w.agent().learn_procedure(s, ["Go there."]),
        "an episode": lambda w, s: w.agent().record_episode(s),
        "the user model": lambda w, s: w.agent().update_user_model({"notes": [s]}),
        "proposed in three sessions": _three_sessions,
        "a reply": lambda w, s: w.agent().answer(f"As you know: {s}."),
        "an agent's message": lambda w, s: w.agent().hear(s),
        "a tool's result in a turn": lambda w, s: w.agent().answer("Done.", [{"name": "crm", "result": s}]),
        "a tool": lambda w, s: w.tool().remember(s),
        "a document": lambda w, s: w.tool("document").remember(s),
        "a phase's name": lambda w, s: w.agent().start_phase("session", name=s, reason="because"),
        "a job's insight": _insight,
        "jobs after a reply": _agents_jobs,
    },
    "HTTP": {
        "remember": lambda w, s: w.post("/v1/memories", text=s),
        "with a key": lambda w, s: w.post("/v1/memories", text=s, key="fact.two"),
        "learn": lambda w, s: w.post("/v1/learn", text=s),
        "hear": lambda w, s: w.post("/v1/hear", text=s),
        "a reply": lambda w, s: w.post("/v1/hear", text="What do you know?", reply=f"I know: {s}."),
        "an episode": lambda w, s: w.post("/v1/episodes", summary=s),
        "an episode's topic": lambda w, s: w.post("/v1/episodes", summary="A walk", topics=[s]),
        "a procedure": lambda w, s: w.post("/v1/procedures", trigger="a visit", steps=[s]),
        "the user model": lambda w, s: w.http.patch("/v1/user-model", json={"notes": [s]}),
        "mem0's client": lambda w, s: w.post(
            "/compat/mem0/v3/memories/add/", messages=[{"role": "assistant", "content": s}], infer=False
        ),
    },
    "MCP": {
        "memory_remember": lambda w, s: w.call("memory_remember", text=s),
        "memory_remember, a tag": lambda w, s: w.call("memory_remember", text="A walk", tags=[s]),
        "memory_hear, a reply": lambda w, s: w.call("memory_hear", text="What now?", reply=s),
        "memory_hear, a tool": lambda w, s: w.call(
            "memory_hear", text="What now?", reply="Done.", tools=[{"name": "crm", "result": s}]
        ),
        "oracle_learn": lambda w, s: w.call("oracle_learn", pattern=s),
        "oracle_learn, a concept": lambda w, s: w.call("oracle_learn", pattern="A walk", concepts=[s]),
        "oracle_user_model_update": lambda w, s: w.call("oracle_user_model_update", updates={"notes": [s]}),
        "oracle_procedural_learn": lambda w, s: w.call(
            "oracle_procedural_learn", trigger="a visit", procedure=[s]
        ),
        "oracle_episodic_record": lambda w, s: w.call("oracle_episodic_record", summary=s),
        "memory_start_phase": lambda w, s: w.call("memory_start_phase", name=s, reason="because"),
    },
    "adapters": {
        "LangGraph, a text": _graph(lambda s: {"text": s}),
        "LangGraph, an object": _graph(lambda s: {"about": {"user": [s]}}),
        "LangGraph, a key of an object": _graph(lambda s: {s: True}),
        "LangGraph, another namespace": _graph(lambda s: {"text": s}, "users"),
        "items of other frameworks": lambda w, s: Items(w.agent(), "files").put("notes.txt", s),
        "Anthropic's memory tool": _anthropic,
        "a turn of Hermes": _hermes,
    },
    "imports": {
        **{name: _imported(name) for name in sorted(one.name for one in TRANSCRIPTS.iterdir())},
        "OMI": _omi,
        "COGX": _cogx,
        "basic-memory": _note,
        "an export of Lamina": _own_export,
        "an OMI export of Lamina": _bundle,
    },
}


def _forgotten(w: World, said: str) -> None:
    w.me().forget(w.me().remember(said).ids[0])


def _purged(w: World, said: str) -> None:
    w.me().purge(w.me().remember(said).ids[0], now=True)


def _rejected(w: World, said: str) -> None:
    w.agent().remember(said, key="fact.one")
    w.me().reject("fact.one")


def _taken_out(w: World, said: str) -> None:
    w.me().remember(said, key="fact.one")
    w.me().forget("fact.one")


NOES = {"forgotten": _forgotten, "purged": _purged, "rejected": _rejected, "a key forgotten": _taken_out}


def back(w: World, said: str, name: str, door: str, way: str) -> bool:
    """Whether the words, as they were spelt, stand in what is active or waits, or in what an agent reads."""
    wanted = [same_value(said), same_value(name)]
    wanted += [same_value(SPELLINGS[way](said))] if door == "spellings" else []
    file = str(w.folder / "w" / ".lamina" / "memory.db")
    with apsw.Connection(file, flags=apsw.SQLITE_OPEN_READONLY) as db:
        rows = db.execute("SELECT * FROM memory WHERE state IN ('active', 'pending')").fetchall()
    held = [str(value) for row in rows for value in row if value is not None]
    held.append(w.agent().context(said[: len(said) // 2]).text)
    held += [hit.text for hit in w.agent().recall(name).hits]
    return any(_holds(one, wanted) for one in held)


def _holds(value: str, wanted: Sequence[str]) -> bool:
    forms = [value]
    with suppress(ValueError):
        forms.append(json.dumps(json.loads(value), ensure_ascii=False))
    return any(one in same_value(form) for form in forms for one in wanted)


@contextmanager
def a_world() -> Iterator[World]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LAMINA_HOME"] = f"{folder}/home"
        world = World(Path(folder))
        try:
            yield world
        finally:
            world.close()


def tried(w: World, way: Way, said: str) -> None:
    with suppress(Exception):  # a refusal is an answer, which each framework tells in an error of its own
        way(w, said)


def statements(number: str | None) -> list[tuple[str, str, str]]:
    """What is said no to: its language, itself, and a name in it."""
    if number is None:
        return [(language, *one) for language, one in SAID.items()]
    lines = (Path(__file__).parent / "data" / f"said-{number}.tsv").read_text("utf-8").splitlines()
    return [(language, said, name) for language, said, name in (line.split("\t") for line in lines)]


def some(doors: Sequence[str], first: int, every: int) -> list[tuple[str, str, Way]]:
    """Every how manieth way of these doors, from which on."""
    ways = [(door, way, act) for door in doors for way, act in WAYS[door].items()]
    return ways[first::every]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--noes", nargs="*", default=list(NOES))
    parser.add_argument("--languages", nargs="*", default=list(SAID))
    parser.add_argument("--doors", nargs="*", default=list(WAYS))
    parser.add_argument("--list", help="a list of statements in place of the four: 2")
    parser.add_argument(
        "--every", type=int, default=1, help="of a list, every how manieth way for each statement"
    )
    parser.add_argument("--no-control", action="store_true", help="do not take the ways where nobody said no")
    parser.add_argument("--show", action="store_true", help="print each way that does not work without a no")
    options = parser.parse_args(arguments)
    came, tries, works = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[str]()
    for row, (language, said, name) in enumerate(statements(options.list)):
        for turn, no in enumerate(options.noes if language in options.languages else ()):
            with a_world() as world:
                NOES[no](world, said)
                for door, way, act in some(options.doors, (row + turn) % options.every, options.every):
                    tried(world, act, said)
                    tries[door, no] += 1
                    if back(world, said, name, door, way):
                        came[door, no] += 1
                        print(f"back: {language} {no} {door}: {way} | {said}", flush=True)
                        for one in world.me().list(limit=100).items:
                            if same_value(name) in same_value(str(one)):
                                world.me().purge(one.id, now=True)
    said, name = SAID["en"]
    for door in () if options.no_control else options.doors:
        for way, act in WAYS[door].items():
            with a_world() as world:
                tried(world, act, said)
                works[door] += (found := back(world, said, name, door, way))
                if options.show and not found:
                    print(f"does not work without a no: {door}: {way}")
    print(f"{'door':<12} {'ways':>5} {'work':>5}" + "".join(f"{no:>18}" for no in options.noes))
    for door in options.doors:
        cells = "".join(f"{f'{came[door, no]}/{tries[door, no]}':>18}" for no in options.noes)
        print(f"{door:<12} {len(WAYS[door]):>5} {works[door]:>5}{cells}")
    print(f"back: {sum(came.values())}")
    return int(bool(came))


if __name__ == "__main__":
    sys.exit(main())
