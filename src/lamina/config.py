"""Every knob in one frozen value, and the one loader: flag, environment, workspace, user file, default."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any

from lamina.errors import ConfigError, did_you_mean
from lamina.late import late
from lamina.records import dataclass

with late():
    import platformdirs

WORKSPACE_FILE = "lamina.toml"
USER_FILE = "config.toml"


def _knob(default: Any, doc: str, *, machine: bool = False, least: float | None = None) -> Any:
    """A setting; `machine` ones are never read from a workspace, which may come from somebody else."""
    return field(default=default, metadata={"doc": doc, "machine": machine, "least": least})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every knob; the docs page of each is `docs/reference/configuration.md`."""

    owner: str = _knob("owner", "The person whose workspace this is; the default user.")
    tenant: str = _knob("default", "Which tenant's store to use.")
    tenants: str = _knob("", "A TOML file: tenants whose store is elsewhere, and its URL.", machine=True)
    project: str = _knob("main", "The project whose shared memories are read and written here.")
    store: str = _knob("", "URL of the store; empty means SQLite inside the workspace.", machine=True)
    recall_k: int = _knob(6, "How many hits a recall returns.", least=1)
    recall_pool: int = _knob(64, "How many candidates each retriever brings to the fusion.", least=8)
    recall_fusion: str = _knob("sum", "How retrievers are put together: `sum` of scores, or `rrf` of ranks.")
    recall_decay: str = _knob("bounded", "How decay lowers a score: `bounded`, or `plain` multiplication.")
    link_min: float = _knob(0.6, "How close two statements must be, 0 to 1, to be linked on write.", least=0)
    link_k: int = _knob(5, "To how many others a new statement is linked at most; 0: to none.", least=0)
    max_text_chars: int = _knob(100_000, "The longest text that is remembered as one memory.", least=1)
    undo_days: int = _knob(30, "How long a forgotten memory can be restored.", least=0)
    soften_days: int = _knob(60, "After so many days unused, what matters little is put aside.", least=1)
    soften_below: int = _knob(2, "What is less important than this matters little; 1 for nothing.", least=1)
    purge_days: int = _knob(30, "How long what was put aside unused can be restored.", least=0)
    idempotency_hours: int = _knob(24, "How long a repeated request is recognised.", least=1)
    session_minutes: int = _knob(30, "How long a session may rest before it is over.", least=1)
    pending_days: int = _knob(7, "How long a guess waits for its person's yes or no.", least=1)
    infer_confidence: float = _knob(0.8, "How sure a guess must be to be put before its person.", least=0)
    merge_on_write: bool = _knob(False, "Whether `remember` merges with what says the same, unasked.")
    merge_mode: str = _knob("recreate", "What a merge leaves: a new record, or the old one (`update`).")
    merge_auto: float = _knob(-1.0, "Closeness from which statements merge; -1: as measured.", least=-1)
    merge_check: float = _knob(-1.0, "The same after a closer look; -1: as measured.", least=-1)
    merge_fallback: float = _knob(-1.0, "The same with further signs; -1: as measured.", least=-1)
    understanding: bool = _knob(
        True, "Whether a trained model listens beside the rules, and keeps what a person says of themselves."
    )
    extract_facts: bool = _knob(False, "Whether long messages are looked through for several lasting facts.")
    extract_from_chars: int = _knob(160, "How long such a message is; a Chinese character is three.", least=1)
    extract_daily: int = _knob(20, "How many facts are taken out of a person's messages in a day.", least=0)
    lock_timeout_s: float = _knob(60.0, "How long a write waits for a file's lock.", least=0)
    policy: str = _knob("normal", "The policy: a preset's name, or a TOML or YAML file.", machine=True)
    rules: str = _knob("", "A TOML file with further rules of understanding.", machine=True)
    categories: str = _knob("", "A YAML or TOML file: categories, and each agent's allowlist.", machine=True)
    consent_fields: str = _knob("", "A TOML file: what of a person needs their consent.", machine=True)
    consent_elicitation: bool = _knob(
        True, "Whether an MCP client's form is the person's answer.", machine=True
    )
    trace_recalls: bool = _knob(False, "Whether each recall is kept in the trace, which makes it a write.")
    answer_receipts: bool = _knob(True, "Whether what was found, shown and left out is kept of every answer.")
    answer_days: int = _knob(30, "For how many days.", least=0)
    telemetry_content: bool = _knob(False, "Whether OpenTelemetry spans carry what was said.", machine=True)
    write_mode: str = _knob("full", "Which writes /api takes: full, selected or none.", machine=True)
    default_language: str = _knob("th", "The language of a user model nothing is known of.")
    default_timezone: str = _knob("Asia/Bangkok", "The time zone of a user model nothing is known of.")
    procedure_agents: str = _knob(
        "planner*, executor*, claude-code, codex, cursor, hermes, openclaw",
        "The agents that plan or act, with commas: they are given procedures. * for all.",
    )
    host: str = _knob("127.0.0.1", "Address `serve` listens on.", machine=True)
    allowed_hosts: str = _knob("", "Further names the servers answer to, with commas between.", machine=True)
    port: int = _knob(8765, "Port `serve` listens on.", machine=True, least=0)
    drain_seconds: float = _knob(
        0.0, "How long `serve` answers on after SIGTERM while `/readyz` says no.", machine=True, least=0
    )
    log_format: str = _knob("plain", "How `serve` logs: plain, or json for one object a line.", machine=True)
    audit_key_file: str = _knob("", "The audit key; empty: `keys/audit.key` in LAMINA_HOME.", machine=True)
    embedder: str = _knob(
        "reading", "`reading`, `static`, `none`, `onnx:FOLDER`, or an encoder's URL.", machine=True
    )
    embedder_model: str = _knob("", "The model to ask for at an embedder's URL.", machine=True)
    embedder_key: str = _knob("OPENAI_API_KEY", "The environment variable with that URL's key.", machine=True)
    extra_paths: str = _knob("", "Further folders whose markdown is searched: `a, b:*.md`.")
    search_settings: str = _knob("openclaw.json", "A file in the workspace with OpenClaw's search settings.")
    document_roots: str = _knob("", "Folders outside the workspace it may search, by commas.", machine=True)
    writer: str = _knob("none", "`none`, or a model's `openai:URL` or `anthropic:URL`.", machine=True)
    writer_model: str = _knob("", "The model to ask for at a writer's URL.", machine=True)
    writer_key: str = _knob("OPENAI_API_KEY", "The environment variable with that URL's key.", machine=True)
    writer_daily_calls: int = _knob(200, "Most requests to the model a day, all jobs.", machine=True, least=0)
    writer_daily_tokens: int = _knob(400_000, "Most tokens of the model a day.", machine=True, least=0)
    jobs: bool = _knob(True, "Whether `serve` runs the jobs that are due, too.", machine=True)
    timezone: str = _knob("UTC", "The time zone of days and of the jobs' times, such as Asia/Bangkok.")
    schedule: str = _knob("", "Other times for jobs: `micro-sync 9:00; index every 10m; insights off`.")
    postgres_connections: int = _knob(8, "Most connections to PostgreSQL per process.", machine=True, least=2)
    replica_url: str = _knob(
        "",
        "URL of a PostgreSQL that follows the store's: questions go there, as far as it has.",
        machine=True,
    )
    migrate: str = _knob(
        "auto", "Whether a start brings the schema up to date: `auto`, or `manual` with `lamina migrate`."
    )


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force and where each came from."""

    config: Config
    origins: Mapping[str, str]


def home_folder(environment: Mapping[str, str]) -> Path:
    """Where keys, tokens and the user's settings live: LAMINA_HOME, else the configuration folder."""
    named = environment.get("LAMINA_HOME")
    return Path(named) if named else Path(platformdirs.user_config_dir("lamina", appauthor=False))


def knobs() -> list[tuple[str, Any, str, bool]]:
    """Name, default, meaning and whether it is refused in a workspace, of every knob."""
    return [(f.name, f.default, f.metadata["doc"], f.metadata["machine"]) for f in fields(Config)]


def load_config(
    workspace: Path | None,
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Loaded:
    """The settings for a workspace; ConfigError names the file and the key that is wrong."""
    environment = os.environ if environment is None else environment
    layers = [("default", {f.name: f.default for f in fields(Config)})]
    user_file = home_folder(environment) / USER_FILE
    layers.append((str(user_file), _from_file(user_file)))
    if workspace is not None:
        found = _from_file(workspace / WORKSPACE_FILE)
        _refuse_machine_knobs(found, workspace / WORKSPACE_FILE)
        layers.append((WORKSPACE_FILE, found))
    layers.append(("environment", _from_environment(environment)))
    layers.append(("flag", {k: v for k, v in (flags or {}).items() if v is not None}))
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers:
        for name, value in layer.items():
            values[name] = _checked(name, value, origin)
            origins[name] = origin
    return Loaded(Config(**values), origins)


_RESERVED = frozenset({"LAMINA_HOME", "LAMINA_WORKSPACE", "LAMINA_TOKEN"})


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    types: dict[str, Callable[[str], Any]] = {
        f.name: _switch if type(f.default) is bool else type(f.default) for f in fields(Config)
    }
    found: dict[str, Any] = {}
    for variable, text in environment.items():
        if not variable.startswith("LAMINA_") or variable in _RESERVED or variable.startswith("LAMINA_TEST_"):
            continue
        name = variable.removeprefix("LAMINA_").lower()
        wanted = types.get(name, str)
        try:
            found[name] = wanted(text)
        except ValueError:
            wanted_word = "true or false" if wanted is _switch else "a number"
            raise ConfigError(f"{variable} must be {wanted_word}, not {text!r:.40}.") from None
    return found


def _switch(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _from_file(path: Path) -> dict[str, Any]:
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise OSError(f"{path} is not a plain file")
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        hint = "Name a folder; settings and the audit key lie in the one that LAMINA_HOME names."
        raise ConfigError(f"{path.parent} is a file, not a folder.", hint=hint) from None
    except (OSError, UnicodeDecodeError) as error:
        hint = "Check that it is a UTF-8 file you own, or move it away and write it anew: `lamina init`."
        raise ConfigError(f"{path} cannot be read.", hint=hint) from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}.", hint="Correct the line it names.") from None


def _refuse_machine_knobs(found: Mapping[str, Any], path: Path) -> None:
    for f in fields(Config):
        if f.metadata["machine"] and f.name in found:
            raise ConfigError(
                f"{path.name} sets `{f.name}`, which a workspace may not decide.",
                code="config_unsafe",
                hint=f"Set it in the user's {USER_FILE}, in LAMINA_{f.name.upper()}, or with a flag.",
            )


def _checked(name: str, value: Any, origin: str) -> Any:
    knob = next((f for f in fields(Config) if f.name == name), None)
    if knob is None:
        meant = did_you_mean(name, [f.name for f in fields(Config)])
        raise ConfigError(
            f"There is no setting `{name}` ({origin}). {meant}".rstrip(),
            hint="`lamina config list` shows them all.",
        )
    wanted = type(knob.default)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not wanted:
        raise ConfigError(f"`{name}` ({origin}) must be {wanted.__name__}, not {type(value).__name__}.")
    least = knob.metadata["least"]
    if least is not None and value < least:
        raise ConfigError(f"`{name}` ({origin}) must be at least {least:g}, not {value:g}.")
    return value
