"""Pictures as SVG, made on the server: no script, no style attribute, a title for those who cannot see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from math import cos, pi, sin

from markupsafe import Markup

from lamina.layers.relations import Graph
from lamina.model import HistoryEntry

_WIDTH = 720
#: How many neighbours a picture of links shows; a graph with more of them tells nobody anything.
NEIGHBOURS = 12
_LABEL = 26


def _svg(height: int, title: str, inner: Sequence[Markup], sort: str, width: int = _WIDTH) -> Markup:
    return Markup(
        '<svg class="picture {}" viewBox="0 0 {} {}" role="img" aria-label="{}" preserveAspectRatio="xMinYMid'
        ' meet"><title>{}</title>{}</svg>'
    ).format(sort, width, height, title, title, Markup("").join(inner))


def _text(x: float, y: float, words: str, sort: str = "", anchor: str = "start") -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" class="{}" text-anchor="{}">{}</text>').format(
        x, y, sort, anchor, words
    )


def _rect(x: float, y: float, width: float, height: float, sort: str, title: str = "") -> Markup:
    return Markup(
        '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="2" class="{}">'
        "<title>{}</title></rect>"
    ).format(x, y, max(0.0, width), max(0.0, height), sort, title)


def activity(counts: Mapping[str, Mapping[str, int]], until: datetime, days: int, title: str) -> Markup:
    """Bars by day: what was written above the line, what was read below it; `counts` is day to sort."""
    start = until.date() - timedelta(days=days - 1)
    shown = [start + timedelta(days=number) for number in range(days)]
    written = [counts.get(f"{one}", {}).get("written", 0) for one in shown]
    read = [counts.get(f"{one}", {}).get("read", 0) for one in shown]
    top, low, step = max([1, *written]), max([1, *read]), _WIDTH / days
    parts = []
    for number, one in enumerate(shown):
        x, said = number * step, f"{one}: +{written[number]} / {read[number]}"
        up, down = 70 * written[number] / top, 30 * read[number] / low
        parts.append(_rect(x + 1, 80 - up, step - 3, up, "bar written", said))
        parts.append(_rect(x + 1, 82, step - 3, down, "bar read", said))
        if one.weekday() == 0 or days <= 14:
            parts.append(_text(x + step / 2, 128, _short_day(one), "axis", "middle"))
    parts.append(Markup('<line x1="0" y1="81" x2="{}" y2="81" class="axis"/>').format(_WIDTH))
    return _svg(134, title, parts, "activity")


def _short_day(one: date) -> str:
    return f"{one.day}.{one.month}."


def life(history: Sequence[HistoryEntry], now: datetime, names: Mapping[str, str], title: str) -> Markup:
    """The life of a memory on one line: each step a mark with its day, where it was put aside a gap."""
    first = history[0].at
    span = max((now - first).total_seconds(), 1.0)
    width, left = _WIDTH - 60, 30
    parts, alive, taken = [], first, list[float]()
    for entry in history:
        x = left + width * min(1.0, max(0.0, (entry.at - first).total_seconds() / span))
        if entry.op == "DELETE":
            begun = left + width * (alive - first).total_seconds() / span
            parts.append(_rect(begun, 38, x - begun, 6, "lived"))
        elif entry.op == "RESTORE":
            alive = entry.at
        row = sum(1 for other in taken if abs(other - x) < 84) % 3
        taken.append(x)
        name = names.get(entry.op.value, entry.op.value)
        anchor = "start" if x < 80 else "end" if x > _WIDTH - 80 else "middle"
        parts.append(
            Markup('<circle cx="{:.1f}" cy="41" r="7" class="step {}"><title>{}</title></circle>').format(
                x, entry.op.value.lower(), f"{name}: {entry.at:%Y-%m-%d %H:%M}"
            )
        )
        parts.append(_text(x, 24 if row == 1 else 64 + 16 * row, f"{name} {entry.at:%m-%d}", "label", anchor))
    if history[-1].op != "DELETE":
        begun = left + width * (alive - first).total_seconds() / span
        parts.insert(0, _rect(begun, 38, left + width - begun, 6, "lived"))
    return _svg(104, title, parts, "life")


def shares(parts: Mapping[str, int], budget: int, names: Mapping[str, str], title: str) -> Markup:
    """What fills a prompt: one bar as wide as the budget, a piece for each part."""
    whole = max(budget, sum(parts.values()), 1)
    drawn, x = [_rect(0, 8, _WIDTH, 26, "room", f"{budget}")], 0.0
    for number, (name, tokens) in enumerate(parts.items()):
        width = _WIDTH * tokens / whole
        said = f"{names.get(name, name)}: {tokens}"
        drawn.append(_rect(x, 8, width, 26, f"share share{number % 8}", said))
        if width > 46:
            drawn.append(_text(x + 6, 26, str(names.get(name, name))[: int(width / 7.5)], "inside"))
        x += width
    return _svg(42, title, drawn, "shares")


def meters(scores: Mapping[str, float], title: str) -> Markup:
    """A small bar for each leg of a search that found something."""
    drawn = []
    for number, (name, score) in enumerate(sorted(scores.items())):
        y = number * 18
        filled = 240 * min(1.0, max(0.0, score if score <= 1 else score / (1 + score)))
        drawn.append(_text(0, y + 12, name, "label"))
        drawn.append(_rect(150, y + 3, 240, 10, "room"))
        drawn.append(_rect(150, y + 3, filled, 10, f"share share{number % 8}", f"{score:.3f}"))
        drawn.append(_text(400, y + 12, f"{score:.3f}", "label"))
    return _svg(max(1, len(scores)) * 18, title, drawn, "meters", 460)


def web(graph: Graph, centre: str, title: str) -> Markup:
    """What one memory is linked to, in a ring around it; the strongest first, and no more than a dozen."""
    near = sorted(
        (edge for edge in graph.edges if centre in (edge.from_id, edge.to_id)),
        key=lambda edge: (-edge.strength, edge.from_id, edge.to_id),
    )[:NEIGHBOURS]
    words = {node.id: node.text for node in graph.nodes}
    middle, centre_y, ring = _WIDTH / 2, 150.0, 110.0
    drawn = []
    for number, edge in enumerate(near):
        other = edge.to_id if edge.from_id == centre else edge.from_id
        turn = 2 * pi * number / max(1, len(near)) - pi / 2
        x, y = middle + ring * 2.1 * cos(turn), centre_y + ring * sin(turn)
        sort = "edge said" if edge.explicit else "edge"
        drawn.append(
            Markup('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>').format(
                middle, centre_y, x, y, sort
            )
        )
        label = " ".join(words.get(other, other).split())[:_LABEL]
        drawn.append(
            Markup(
                '<a href="/memory/{}"><circle cx="{:.1f}" cy="{:.1f}" r="7" class="node"/><text x="{:.1f}"'
                ' y="{:.1f}" class="label" text-anchor="middle">{}</text><title>{}</title></a>'
            ).format(other, x, y, x, y + 20, label, f"{edge.type} {edge.strength:.2f}")
        )
    drawn.append(
        Markup('<circle cx="{:.1f}" cy="{:.1f}" r="10" class="node centre"/>').format(middle, centre_y)
    )
    return _svg(300, title, drawn, "web")
