"""One request of a person's browser: who they are, what they sent, and the catalogue to ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lamina.engine import Engine
from lamina.errors import Denied
from lamina.model import Right, canonical, plain
from lamina.operations.asking import request_of
from lamina.operations.catalogue import OPERATIONS
from lamina.policy.consent import Care
from lamina.records import dataclass
from lamina.scoped import ScopedMemory
from lamina.studio.sign_in import BrowserSession, Notice
from lamina.studio.words import StudioWords

VIA = "studio"
_ANSWERS = 50  #: how many answers one session keeps


@dataclass(frozen=True, kw_only=True)
class StudioPage:
    """A page to be shown: its template, and data that its JSON twin gives as it is."""

    template: str
    title: str
    data: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)  #: for the template alone
    status: int = 200


@dataclass(frozen=True, kw_only=True)
class Visit:
    """Who asks for a page, and with what."""

    request: Request
    engine: Engine
    session: BrowserSession
    words: StudioWords
    sent: Mapping[str, Sequence[str]] = field(default_factory=dict)  #: of a form
    files: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)  #: of a form: name and bytes

    @property
    def memory(self) -> ScopedMemory:
        """The person's own memory; nothing in a form says whose."""
        return self.engine.scope(user=self.session.user, via=VIA)

    def may(self, right: Right) -> bool:
        return right in self.session.rights

    def ask(self, operation: str, **values: Any) -> Any:
        """Carry an operation of the catalogue out, if this person may; values that are None say nothing."""
        asked = OPERATIONS[operation]
        if not self.may(asked.right):
            raise Denied(
                f"This sign-in does not have the right to {asked.right}.",
                code="right_missing",
                hint="Sign in with the link that `lamina serve` prints.",
            )
        given = {name: value for name, value in values.items() if value is not None}
        return asked.run(self.memory, request_of(asked, given))

    def counted(self, wanted: Mapping[str, Any]) -> tuple[int, Mapping[str, Mapping[str, int]]]:
        """How many memories there are of what."""
        page = self.ask_once("list", limit=1, **wanted)
        return page.total or 0, page.facets or {}

    def ask_once(self, operation: str, **values: Any) -> Any:
        """The same as `ask` for what takes long to say: said again while nothing changes, for a minute."""
        minute = int(self.engine.now().timestamp() // 60)
        key = canonical([operation, self.memory.cursor(), minute, plain(values)])
        known = self.session.answers
        if key not in known:
            if len(known) >= _ANSWERS:
                known.clear()
            known[key] = self.ask(operation, **values)
        return known[key]

    def is_sensitive(self, key: str | None) -> bool:
        """Whether a value is one that its person may not want to show to whoever stands behind them."""
        private = not (key or "").startswith("response.")  # how somebody likes answers is no secret
        return private and self.engine.ruleset.fields.care(key) is Care.SENSITIVE

    # What was sent.

    def query(self, name: str, default: str = "") -> str:
        return str(self.request.query_params.get(name, default)).strip()

    def queries(self, name: str) -> tuple[str, ...]:
        return tuple(one for one in self.request.query_params.getlist(name) if one)

    def field(self, name: str, default: str = "") -> str:
        """One field of the form, its line ends as texts have them."""
        found = self.sent.get(name)
        return found[0].replace("\r\n", "\n") if found else default

    def fields(self, name: str) -> tuple[str, ...]:
        return tuple(self.sent.get(name, ()))

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    # What is answered.

    def tell(self, text: str, **more: Any) -> None:
        """Something for the next page to say."""
        self.session.tell(Notice(text=text, **more))

    def back_to(self, path: str) -> Response:
        """On to another page of ours, by GET; what a form names is taken for a path here and nothing else."""
        ours = path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/"
        return RedirectResponse(quote(ours, safe="/?&=%:+~@,.-_#"), 303)


Screen = Callable[[Visit], StudioPage | Response]


def form_of(body: bytes) -> dict[str, list[str]]:
    """The fields of a form as browsers send it."""
    found: dict[str, list[str]] = {}
    pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=5000)
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def files_of(body: bytes, content_type: str) -> tuple[dict[str, list[str]], dict[str, tuple[str, bytes]]]:
    """Fields and files of a form that has files; what cannot be read is in neither."""
    fields: dict[str, list[str]] = {}
    files: dict[str, tuple[str, bytes]] = {}
    boundary = _attribute(content_type, "boundary")
    if not boundary:
        return fields, files
    for part in body.split(b"--" + boundary.encode("latin-1"))[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        told = head.decode("utf-8", "replace")
        name, file_name = _attribute(told, "name"), _attribute(told, "filename")
        data = content.removesuffix(b"\r\n")
        if "filename=" in told:
            files[name] = (file_name, data)
        elif name:
            fields.setdefault(name, []).append(data.decode("utf-8", "replace"))
    return fields, files


def _attribute(header: str, name: str) -> str:
    for part in header.replace("\r\n", ";").split(";"):
        key, _, value = part.strip().partition("=")
        if key.lower() == name:
            return value.strip().strip('"')
    return ""


def address(path: str, pairs: Sequence[tuple[str, str]]) -> str:
    """A path with its query; pairs that say nothing are left out."""
    said = [(name, value) for name, value in pairs if value]
    return f"{path}?{urlencode(said)}" if said else path
