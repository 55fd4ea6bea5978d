"""Operations on the five layers: what is learned, the model of the user, procedures, episodes."""

from __future__ import annotations

from typing import Annotated, Any, cast

from lamina.layers.layers import Learned
from lamina.model import Receipt, Right
from lamina.operations.memories import MOST_ITEMS, DerivedFrom
from lamina.operations.operation import Door, Field, Tool, given, operation, routed
from lamina.operations.sessions import Nothing
from lamina.records import dataclass
from lamina.scoped import ScopedMemory
from lamina.text.accounts import Episode, Procedure


@dataclass(frozen=True, slots=True, kw_only=True)
class Learn:
    """What to learn."""

    text: Annotated[str, Field("What to learn.", position=True, piped=True, also=("pattern", "content"))]
    layer: Annotated[
        str | None, Field("user_model, procedural, semantic, episodic or auto; usually left out.")
    ] = None
    concepts: Annotated[
        tuple[str, ...], Field("Words to find it by.", longest=MOST_ITEMS, option="--concept")
    ] = ()
    source: Annotated[str | None, Field("Where it comes from, such as a URL.")] = None
    origin: Annotated[str | None, Field("human, mother or correction: how sure it is.")] = None
    project: Annotated[
        str | None, Field("The project it is about.", but={Door.MCP: "The connection says which."})
    ] = None
    resolution: Annotated[str, Field("Of a contradiction: warn, ask, supersede or keep.")] = "warn"
    reason: Annotated[str, Field("Why; it is kept in the history.")] = ""
    derived_from: DerivedFrom = None


@operation(
    "POST /v1/learn",
    Right.WRITE,
    tool=Tool(
        title="Learn",
        name="oracle_learn",
        names={"text": "pattern"},
        advice="Tell the user of a `warning`: it names what this may contradict.",
    ),
)
def learn(memory: ScopedMemory, request: Learn) -> Learned:
    """Keep something for good, in its layer; name what it contradicts."""
    return memory.learn(request.text, **cast(Any, given(request, "text")))


@operation(
    "GET /v1/user-model",
    Right.READ,
    command="user-model get",
    tool=Tool(title="User model", name="oracle_user_model", advice="Adapt your answers to it."),
)
def user_model(memory: ScopedMemory, request: Nothing) -> dict[str, Any]:  # noqa: ARG001 the catalogue's form
    """What is known about the user: expertise, preferences, topics, notes; what is not has defaults."""
    return memory.user_model()


@dataclass(frozen=True, slots=True, kw_only=True)
class Updates:
    """What to merge into a user model."""

    updates: Annotated[
        dict[str, Any],
        Field('A JSON object such as {"expertise": {"docker": "expert"}}.', position=True, metavar="JSON"),
    ]


@operation(
    "PATCH /v1/user-model",
    Right.WRITE,
    command="user-model set",
    tool=Tool(
        title="Update the user model",
        name="oracle_user_model_update",
        advice="Give it what the user said of themselves. What is in `pending` waits for their yes or no.",
    ),
)
def update_user_model(memory: ScopedMemory, request: Updates) -> list[Receipt]:
    """Merge into the user model: what is not mentioned stays, and lists grow."""
    return memory.update_user_model(request.updates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of the user model."""

    item: Annotated[
        str,
        Field(
            "As the model shows it (expertise.C++, preferences.language, timezone, notes.<its text>) "
            "or its key.",
            position=True,
            longest=1100,
            example="expertise.docker",
        ),
    ]


@operation(
    routed("POST /v1/user-model/remove", codes=(404,)),
    Right.WRITE,
    command="user-model remove",
    but={Door.MCP: "`memory_forget` takes the key of an item."},
)
def remove_from_user_model(memory: ScopedMemory, request: Item) -> list[Receipt]:
    """Forget one item of the user model; it can be restored."""
    return memory.remove_from_user_model(request.item)


@operation(
    routed("DELETE /v1/user-model", under="removed"),
    Right.WRITE,
    command="user-model reset",
    asks="Forget the whole user model? `lamina restore` can bring each value back.",
    tool=Tool(title="Reset the user model", name="oracle_user_model_reset", destroys=True),
)
def reset_user_model(memory: ScopedMemory, request: Nothing) -> int:  # noqa: ARG001 the catalogue's form
    """Forget everything in the user model; each value can be restored. How many values."""
    return memory.reset_user_model()


@dataclass(frozen=True, slots=True, kw_only=True)
class FindProcedure:
    """Which task."""

    task: Annotated[
        str,
        Field("The task at hand; nothing lists the newest.", position=True, also=("query", "q")),
    ] = ""
    limit: Annotated[int, Field("How many at most.", low=1, high=50)] = 3


@operation(
    "GET /v1/procedures",
    Right.READ,
    command="procedure find",
    tool=Tool(
        title="Find a procedure",
        name="oracle_procedural_search",
        names={"task": "q"},
        items="results",
        advice="Follow one, then say how it went.",
    ),
)
def find_procedures(memory: ScopedMemory, request: FindProcedure) -> list[Procedure]:
    """How things are done here: procedures for a task, best first."""
    return memory.find_procedures(request.task, request.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnProcedure:
    """What to do when."""

    trigger: Annotated[str, Field("When it applies.", position=True)]
    steps: Annotated[
        tuple[str, ...],
        Field("What to do, in order.", longest=50, position=True, metavar="STEP...", also=("procedure",)),
    ]
    source: Annotated[str, Field("explicit, correction or repeated_pattern.")] = "explicit"
    derived_from: DerivedFrom = None


@operation(
    "POST /v1/procedures",
    Right.WRITE,
    command="procedure learn",
    tool=Tool(title="Learn a procedure", name="oracle_procedural_learn", names={"steps": "procedure"}),
)
def learn_procedure(memory: ScopedMemory, request: LearnProcedure) -> Receipt:
    """Keep how something is done; a procedure for the same task is extended instead."""
    made_of = request.derived_from or ()
    return memory.learn_procedure(request.trigger, request.steps, request.source, derived_from=made_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Which procedure was followed, and how it went."""

    memory_id: Annotated[str, Field("The procedure's id.", position=True, metavar="ID", wire="id")]
    outcome: Annotated[str, Field("success, partial, failed or unknown.")] = "success"


@operation(
    routed("POST /v1/procedures/used", codes=(404,)),
    Right.WRITE,
    command="procedure used",
    tool=Tool(
        title="A procedure was used",
        name="oracle_procedural_usage",
        names={"memory_id": "id"},
        repeatable=False,
    ),
)
def used_procedure(memory: ScopedMemory, request: Used) -> Procedure:
    """Note that a procedure was followed, and how it went."""
    return memory.used_procedure(request.memory_id, request.outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindEpisode:
    """About what."""

    topic: Annotated[
        str, Field("About what; nothing lists the latest.", position=True, also=("query", "q"))
    ] = ""
    limit: Annotated[int, Field("How many at most.", low=1, high=100)] = 5


@operation(
    "GET /v1/episodes",
    Right.READ,
    command="episode find",
    tool=Tool(title="Find episodes", name="oracle_episodic_search", names={"topic": "q"}, items="results"),
)
def find_episodes(memory: ScopedMemory, request: FindEpisode) -> list[Episode]:
    """What happened before: about a topic, best first, or the latest."""
    return memory.find_episodes(request.topic, request.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEpisode:
    """What happened."""

    summary: Annotated[str, Field("What happened, in a sentence or two.", position=True)]
    topics: Annotated[
        tuple[str, ...], Field("What it was about.", longest=20, option="--topic", listed=True)
    ] = ()
    outcome: Annotated[str, Field("success, partial, failed or unknown.")] = "unknown"
    duration_ms: Annotated[int | None, Field("How long it took, in milliseconds.", low=0)] = None
    group: Annotated[str | None, Field("The group it happened in.")] = None
    derived_from: DerivedFrom = None


@operation(
    "POST /v1/episodes",
    Right.WRITE,
    command="episode record",
    tool=Tool(
        title="Record an episode",
        name="oracle_episodic_record",
        repeatable=False,
        advice="Use it at the end of a task.",
    ),
)
def record_episode(memory: ScopedMemory, request: RecordEpisode) -> Receipt:
    """Keep what happened for 90 days, longer where it is found again, one line of it for good."""
    return memory.record_episode(request.summary, **cast(Any, given(request, "summary")))
