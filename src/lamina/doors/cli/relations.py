"""The commands about which memories belong together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from lamina.doors.cli.call import call_of
from lamina.doors.cli.commands import Commands
from lamina.doors.cli.memories import MemoryId
from lamina.doors.cli.output import Output

if TYPE_CHECKING:
    from lamina.layers.relations import Graph

commands = Commands()


class _ShownByDefault(TyperGroup):
    """`relations` and `relations ID` show; the other commands are named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in {*self.commands, "-h", "--help"}:
            args = ["show", *args]
        return super().parse_args(ctx, args)


relations = commands.group("relations", "Which memories belong together, said by you or found on writing.")
relations.info.cls = _ShownByDefault
relations.registered_callback.cls = _ShownByDefault  # type: ignore[union-attr]

OtherId = Annotated[str, Argument(metavar="OTHER", help="The id of the other one.")]
OfType = Annotated[str, Option("--type", help="How they belong together: letters, digits, _ and -.")]


@relations.command()
def show(
    ctx: typer.Context,
    memory_id: Annotated[str | None, Argument(metavar="ID", help="Only what this is linked to.")] = None,
    depth: Annotated[int, Option(help="How many steps away, up to 5.")] = 1,
) -> int:
    """What a memory is linked to, or every link there is."""
    call = call_of(ctx)
    with call.mind() as mind:
        linked = call.doors.relations(mind)
        found = linked.of(memory_id, depth) if memory_id else linked.graph()
    if not found.edges and not call.out.json:
        call.out.note("Nothing is linked here.")
    return call.answer(found, _edges(call.out, found))


def _edges(out: Output, found: Graph) -> Iterator[str]:
    texts = {one.id: one.text for one in found.nodes}
    for one in found.edges:
        how = "said" if one.explicit else "found"
        yield f"{one.from_id}  {out.text(texts[one.from_id])}"
        yield f"  {one.type} {one.strength:.2f}, {how}: {one.to_id}  {out.text(texts[one.to_id])}"


@relations.command()
def link(
    ctx: typer.Context,
    memory_id: MemoryId,
    other: OtherId,
    type_: OfType = "related_to",
    strength: Annotated[float, Option(help="How strongly, 0 to 1.")] = 1.0,
) -> int:
    """Say that two memories belong together."""
    call = call_of(ctx)
    with call.mind() as mind:
        made = call.doors.relations(mind).link(memory_id, other, type_, strength)
    return call.answer(made, [f"{made.from_id} {made.type} {made.to_id}"])


@relations.command()
def unlink(ctx: typer.Context, memory_id: MemoryId, other: OtherId, type_: OfType = "related_to") -> int:
    """Take a link away, whichever way round it is."""
    call = call_of(ctx)
    with call.mind() as mind:
        call.doors.relations(mind).unlink(memory_id, other, type_)
    return call.answer({"from_id": memory_id, "to_id": other, "type": type_}, ["They are no longer linked."])


@relations.command()
def export(
    ctx: typer.Context,
    form: Annotated[str, Option("--format", help="json, or dot for Graphviz.")] = "json",
) -> int:
    """All that is linked, for other tools: `lamina relations export --format dot | dot -Tsvg`."""
    call = call_of(ctx)
    with call.mind() as mind:
        graph = call.doors.relations(mind).graph()
    return call.answer(graph, call.doors.export_graph(graph, form).splitlines())
