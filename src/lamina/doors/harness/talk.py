"""A session in some client: its transcript, how far it was heard, and what it was told."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from lamina.doors.harness.hook import Event
from lamina.durable import make_folder, put_file
from lamina.imports.turn import ImportFile
from lamina.records import dataclass

_FORMATS = {"claude-code": "claude-code", "codex": "codex", "openclaw": "openclaw"}
#: What stands on its own in a block for a prompt, and what is left of a group that holds none of it.
_UNIT = re.compile(
    r"^<procedure\b.*?</procedure>\n|^- .*\n|^<(\w+)(?: [^<>]*)?>.*</\1>\n|^<topic [^<>]*/>\n", re.M
)
_EMPTY = re.compile(r"^<(\w+)(?: [^<>]*)?>\n</\1>\n?", re.M)


@dataclass(slots=True)
class ClientTalk:
    """A session that goes on in some client: its transcript, how far it was heard, what it was told."""

    path: Path
    client: str
    session: str
    workspace: str
    transcript: str = ""
    heard: int = 0
    told: tuple[str, ...] = ()

    @staticmethod
    def of(event: Event) -> ClientTalk:
        """What is known of this session, with what the client says now."""
        name = _digest(f"{event.client}\n{event.session}")[:32]
        path = event.home / "hooks" / "open" / f"{name}.json"
        talk = ClientTalk._read(path) or ClientTalk(
            path, event.client, event.session, str(event.workspace or "")
        )
        if event.transcript is not None:
            talk.transcript = str(event.transcript)
        if not event.mute and event.verb == "prompt" and not talk.is_written():
            talk._spool("user", event.prompt)
        return talk

    @staticmethod
    def unheard(event: Event) -> Iterator[ClientTalk]:
        """Other sessions on the same memory whose transcripts hold what was not heard."""
        own = _digest(f"{event.client}\n{event.session}")[:32]
        for path in sorted((event.home / "hooks" / "open").glob("*.json")):
            talk = ClientTalk._read(path) if path.stem != own else None
            if talk is not None and talk.workspace == str(event.workspace or "") and talk.is_behind():
                yield talk

    @staticmethod
    def _read(path: Path) -> ClientTalk | None:
        try:
            found = json.loads(path.read_text("utf-8"))
            return ClientTalk(path, **{**found, "told": tuple(found["told"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def keep(self) -> None:
        make_folder(self.path.parent)
        data = {name: value for name, value in asdict(self).items() if name != "path"}
        put_file(self.path, json.dumps(data, ensure_ascii=False).encode())

    def close(self) -> None:
        self._own().unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    def heard_to(self, size: int) -> None:
        self.heard = size
        self.keep()

    def _own(self) -> Path:
        """The transcript that we keep where the client has none: what it told us, until it was heard."""
        return self.path.with_suffix(".jsonl")

    def is_written(self) -> bool:
        """Whether the client keeps a transcript by now: in its first moments there is none yet."""
        return bool(self.transcript) and Path(self.transcript).is_file()

    def reply(self, text: str) -> None:
        if text and not self.is_written():
            self._spool("assistant", text)

    def _spool(self, role: str, text: str) -> None:
        make_folder(self.path.parent)
        with self._own().open("a", encoding="utf-8", errors="replace") as stream:
            line = {"role": role, "content": text, "session_id": self.session}
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._own().chmod(0o600)

    def file(self) -> ImportFile | None:
        """What is to be read: the client's transcript, or ours; None while there is none."""
        if self.is_written():
            self._own().unlink(missing_ok=True)
            return ImportFile(path=Path(self.transcript), format=_FORMATS.get(self.client, "jsonl"))
        return ImportFile(path=self._own(), format="jsonl") if self._own().is_file() else None

    def is_behind(self) -> bool:
        file = self.file()
        if file is None:
            self.path.unlink(missing_ok=True)  # its client has thrown it away
        return file is not None and file.size != self.heard

    def news(self, block: str, *, anew: bool = False) -> str:
        """What of a block this session was not told yet; empty where that is all."""
        told = set() if anew else set(self.told)
        marks: list[str] = []

        def fresh(unit: re.Match[str]) -> str:
            mark = _digest(unit[0])[:12]
            marks.append(mark)
            return "" if mark in told else unit[0]

        left = _UNIT.sub(fresh, f"{block}\n")
        while (smaller := _EMPTY.sub("", left)) != left:
            left = smaller
        self.told = tuple(sorted(told | set(marks)))
        return left.strip() if _UNIT.search(left) else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
