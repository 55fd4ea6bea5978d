"""A graph of memories as other tools read it."""

from __future__ import annotations

from lamina.errors import InvalidInput
from lamina.layers.relations import Graph
from lamina.model import canonical, plain

FORMATS = ("json", "dot")
_LABEL = 60  #: characters of a memory's words that a picture shows


def exported(graph: Graph, form: str) -> str:
    """The graph as JSON, or as DOT for Graphviz; the same bytes for the same graph."""
    if form not in FORMATS:
        hint = f"Choose one of: {', '.join(FORMATS)}."
        raise InvalidInput(f"{form!r:.40} is no format.", code="format_invalid", hint=hint)
    return f"{canonical(plain(graph))}\n" if form == "json" else _dot(graph)


def _dot(graph: Graph) -> str:
    lines = ["digraph memories {", "  node [shape=box];"]
    lines += [f"  {_quoted(one.id)} [label={_quoted(_short(one.text))}];" for one in graph.nodes]
    for edge in graph.edges:
        style = "solid" if edge.explicit else "dashed"
        label = _quoted(f"{edge.type} {edge.strength:.2f}")
        ends = f"{_quoted(edge.from_id)} -> {_quoted(edge.to_id)}"
        lines.append(f"  {ends} [label={label}, style={style}];")
    return "\n".join([*lines, "}", ""])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LABEL else f"{line[: _LABEL - 1]}…"


def _quoted(text: str) -> str:
    """A string of DOT: Graphviz takes what follows a backslash for a command, so that is doubled first."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
