"""The commands of the five layers: learn, user-model, procedure, episode."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from typer import Argument, Option

from lamina.doors.cli.call import Call, call_of, names, text_or_stdin
from lamina.doors.cli.commands import Commands
from lamina.errors import InvalidInput

commands = Commands()


@commands.add("learn")
def learn(
    ctx: typer.Context,
    text: Annotated[
        str | None, Argument(metavar="TEXT", help="What to learn; `-` or nothing reads what is piped in.")
    ] = None,
    layer: Annotated[str | None, Option(help="user_model, procedural, semantic, episodic or auto.")] = None,
    origin: Annotated[str | None, Option(help="human, mother or correction: how sure it is.")] = None,
    source: Annotated[str | None, Option(help="Where it comes from, such as a URL.")] = None,
    concept: Annotated[list[str] | None, Option(help="A concept; may be repeated.")] = None,
    resolution: Annotated[str, Option(help="Of a contradiction: warn, ask, supersede or keep.")] = "warn",
    reason: Annotated[str | None, Option(help="Why; it is kept in the history.")] = None,
) -> int:
    """Keep something for good, in its layer; name what it contradicts."""
    call = call_of(ctx)
    words = text_or_stdin(text, "text")
    lesson: Any = {
        "layer": layer,
        "origin": origin,
        "source": source,
        "concepts": concept or (),
        "resolution": resolution,
        "reason": reason or "",
    }
    with call.mind() as mind:
        learnt = mind.layers.learn(words, **lesson)
    if learnt.suggested is not None:
        call.out.note(f"Its wording speaks for the layer {learnt.suggested}.")
    if learnt.warning is not None:
        call.out.note(f"It may contradict {learnt.warning.id}: {call.out.text(learnt.warning.text)}")
    if learnt.file:
        call.out.note(f"Written to {call.out.text(learnt.file)}.")
    return call.receipt(learnt.receipt)


user_model = commands.group("user-model", "What is known about you: get, set, reset.")


@user_model.command("get")
def get_model(ctx: typer.Context) -> int:
    """The whole model; what is not known has defaults."""
    call = call_of(ctx)
    with call.mind() as mind:
        model = mind.layers.user_model.get()
    return call.answer(model, call.out.table([(name, _shown(call, value)) for name, value in model.items()]))


def _shown(call: Call, value: Any) -> str:
    return call.out.text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


@user_model.command("set")
def set_model(
    ctx: typer.Context,
    updates: Annotated[str, Argument(metavar="JSON", help='Such as {"expertise": {"docker": "expert"}}.')],
) -> int:
    """Merge into the model: what is not mentioned stays, and lists grow."""
    call = call_of(ctx)
    try:
        partial = json.loads(updates)
    except ValueError:
        hint = 'Write it like {"expertise": {"docker": "expert"}}.'
        raise InvalidInput("That is no JSON.", code="user_model_invalid", hint=hint) from None
    with call.mind() as mind:
        receipts = mind.layers.user_model.update(partial)
    return max((call.receipt(one) for one in receipts), default=0)


@user_model.command("reset")
def reset_model(ctx: typer.Context, yes: Annotated[bool, Option("--yes", help="Do not ask.")] = False) -> int:
    """Forget everything in the model; each value can be restored."""
    call = call_of(ctx)
    if not call.confirmed("Forget the whole user model? `lamina restore` can bring each value back.", yes):
        return call.declined()
    with call.mind() as mind:
        count = mind.layers.user_model.reset()
    return call.answer({"removed": count}, [f"{count} values were forgotten."])


procedure = commands.group("procedure", "How things are done here: find, learn, used.")


@procedure.command("find")
def find_procedure(
    ctx: typer.Context,
    task: Annotated[str, Argument(metavar="TASK", help="What is to be done; nothing lists the newest.")] = "",
    limit: Annotated[int, Option(help="How many at most.")] = 3,
) -> int:
    """What to do for a task, best first."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = mind.layers.procedures.find(task, limit)
    if not found and not call.out.json:
        call.out.note("No procedure is known for that.")
    lines = [line for one in found for line in (call.out.text(one.text), call.out.style(one.id, "dim"))]
    return call.answer({"items": [one.to_plain() for one in found]}, lines)


@procedure.command("learn")
def learn_procedure(
    ctx: typer.Context,
    trigger: Annotated[str, Argument(metavar="TRIGGER", help="When it applies.")],
    steps: Annotated[list[str], Argument(metavar="STEP...", help="What to do, in order.")],
    source: Annotated[str, Option(help="explicit, correction or repeated_pattern.")] = "explicit",
) -> int:
    """Keep a procedure; one for the same task is extended instead."""
    call = call_of(ctx)
    with call.mind() as mind:
        receipt = mind.layers.procedures.learn(trigger, steps, source)
    return call.receipt(receipt)


@procedure.command("used")
def used_procedure(
    ctx: typer.Context,
    memory_id: Annotated[str, Argument(metavar="ID", help="The procedure's id.")],
    outcome: Annotated[str, Option(help="success, partial, failed or unknown.")] = "success",
) -> int:
    """Note that a procedure was followed, and how it went."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = mind.layers.procedures.used(memory_id, outcome)
    counts = f"{found.success_count} times well, {found.failure_count} times not"
    return call.answer(found.to_plain(), [f"{call.out.text(found.trigger)}: {counts}"])


episode = commands.group("episode", "What happened: record, find.")


@episode.command("record")
def record_episode(
    ctx: typer.Context,
    summary: Annotated[str, Argument(metavar="SUMMARY", help="What happened.")],
    topic: Annotated[str | None, Option(help="Topics: a,b.")] = None,
    outcome: Annotated[str, Option(help="success, partial, failed or unknown.")] = "unknown",
    minutes: Annotated[int | None, Option(help="How long it took.")] = None,
) -> int:
    """Keep what happened for 90 days, longer where it is found again, one line of it for good."""
    call = call_of(ctx)
    took = None if minutes is None else minutes * 60_000
    with call.mind() as mind:
        receipt = mind.layers.episodes.record(
            summary, topics=names(topic) or (), outcome=outcome, duration_ms=took
        )
    return call.receipt(receipt)


@episode.command("find")
def find_episode(
    ctx: typer.Context,
    topic: Annotated[str, Argument(metavar="TOPIC", help="About what; nothing lists the latest.")] = "",
    limit: Annotated[int, Option(help="How many at most.")] = 5,
) -> int:
    """What happened, best or latest first."""
    call = call_of(ctx)
    with call.mind() as mind:
        found = mind.layers.episodes.find(topic, limit)
    if not found and not call.out.json:
        call.out.note("Nothing like that is known to have happened.")
    lines = [f"{one.at:%Y-%m-%d} {one.outcome}: {call.out.text(one.summary)}" for one in found]
    return call.answer({"items": [one.to_plain() for one in found]}, lines)
