"""The composition root: opens stores and workspaces, and starts the doors that are asked for."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import timedelta
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from lamina.audit.chain import Anchor, Sealer, load_key
from lamina.clock import Clock, Runtime, SystemClock, monotonic, pause
from lamina.config import Config, Loaded, home_folder, load_config
from lamina.documents.index import Library
from lamina.encoders.port import Embedder
from lamina.errors import ConfigError, Damaged, LaminaError, Unauthenticated
from lamina.language.secrets.privacy import check_name
from lamina.late import late
from lamina.model import ANYBODYS, Right, quoted
from lamina.policy.categories import Categories, load_categories
from lamina.policy.consent import Fields, load_fields
from lamina.policy.loading import PRESETS, load_policy, preset
from lamina.policy.rules import Policy
from lamina.records import dataclass
from lamina.similarity.merge_bands import merging
from lamina.storage.database import Database
from lamina.storage.sqlite import SqliteDatabase, tenant_file
from lamina.workspace.layout import DATABASE, create_workspace, is_workspace, known_tenant
from lamina.write.linking import Linking
from lamina.write.seals import check_key, store_id
from lamina.write.store import Parts, Store
from lamina.write.unit_of_work import Ruleset

with late():
    import tomllib

    from lamina.language import rulebook

# What a glance at a memory does without is loaded by what needs it: a client asks for one at every prompt.
if TYPE_CHECKING:
    from lamina.engine import Engine, Tenants
    from lamina.jobs.job import JobReport
    from lamina.jobs.writer import Writer
    from lamina.language.rulebook import Rulebook
    from lamina.scoped import ScopedMemory

S = TypeVar("S", bound=Store)
#: How long a question waits for an encoder elsewhere; then words alone answer it.
_QUESTION_S = 2.0
#: Modules that not every process needs, and what installs them.
_OPTIONAL = {
    "lamina.jobs.models": "llm",
    "lamina.encoders.onnx": "embed",
    "lamina.storage.postgres": "postgres",
    "lamina.doors.http.server": "server",
    "lamina.studio.app": "server",
    "lamina.documents.hints": "watch",
    "lamina.doors.mcp.server": "mcp",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """What to open: a workspace folder, a store URL, or both."""

    workspace: Path | None
    store: str
    loaded: Loaded


def load_part(module: str) -> Any:
    """An optional part of Lamina, or ConfigError that names the extra to install."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "lamina":
            raise
        extra = _OPTIONAL[module]
        raise ConfigError(
            f"This needs the package `{error.name}`, which is not installed.",
            code="extra_missing",
            hint=f"Run: pip install 'lamina[{extra}]'",
        ) from error


def locate(target: str | Path | None, settings: Mapping[str, Any], environment: Mapping[str, str]) -> Where:
    """What a target means: a URL is a store without files, anything else a workspace folder."""
    if isinstance(target, str) and "://" in target:
        return _located(None, load_config(None, {**settings, "store": target}, environment))
    workspace = Path(target).expanduser().absolute() if target is not None else None
    return _located(workspace, load_config(workspace, settings, environment))


def _located(workspace: Path | None, loaded: Loaded) -> Where:
    config = loaded.config
    store = read_tenants(config.tenants).get(config.tenant, config.store)
    if not store and workspace is None:
        raise ConfigError("Nothing to open: no workspace and no store.", hint="Name a folder or a store URL.")
    return Where(workspace=workspace, store=store or f"sqlite:///{workspace}/{DATABASE}", loaded=loaded)


def open_memory(
    target: str | Path | None = None,
    *,
    clock: Clock | None = None,
    create: bool | Literal["anew"] = True,
    adopt: bool | Literal["key", "seal"] = False,
    environment: Mapping[str, str] | None = None,
    **settings: Any,
) -> Engine:
    """Open a workspace folder or a store URL; a folder that is no workspace yet becomes one.

    `settings` are those of `lamina.config.Config` and win over environment and files; `clock` replaces
    the machine's, for tests and replays; `adopt` makes this workspace's files the home of a store's entries
    that lived in another's, with "key" the audit key here the key of a store that another one sealed, and
    with "seal" everything in the store what it says, whoever changed it. Where the store of a workspace is
    gone it is Damaged (`store_gone`), unless `create` is "anew".
    Raises ConfigError, Damaged or Unavailable, and then opens nothing.
    """
    environment = os.environ if environment is None else environment
    where = locate(target, settings, environment)
    if create != "anew":
        _check_there(where)
    engine: type[Engine] = import_module("lamina.engine").Engine
    return _opened(
        where, create is True, lambda database: engine(_parts(database, where, clock, environment, adopt))
    )


def _check_there(where: Where) -> None:
    """A store that is gone is not taken for one that was never there."""
    tenant = where.loaded.config.tenant
    on_disk = where.store.startswith("sqlite:///")
    if where.workspace is None or not on_disk or not is_workspace(where.workspace):
        return
    file, gone = tenant_file(where.store, tenant), False
    with suppress(OSError, LaminaError):  # what may not be looked at is explained by whoever opens it
        gone = (not file.exists() or file.stat().st_size == 0) and known_tenant(where.workspace) == quoted(
            tenant
        )
    if gone:
        raise Damaged(
            f"This workspace was used before, and its store {file} is not there or empty.",
            code="store_gone",
            hint="Put a backup back in a new folder with `lamina restore-backup`, name the store it is in"
            " with --store, or run `lamina init` to start again with what the files say.",
        )


def open_store(target: Path | None, environment: Mapping[str, str]) -> Store:
    """Open a memory for a glance: without its verbs, and without the upkeep that opening it brings."""
    where = locate(target, {}, environment)
    return _opened(where, False, lambda database: Store(_parts(database, where, None, environment, False)))


def _opened(where: Where, create: bool, made: Callable[[Database], S]) -> S:
    config = where.loaded.config
    for name in (config.owner, config.tenant, config.project):
        check_name(name)
    if where.workspace is not None and not is_workspace(where.workspace):
        if not create:
            raise Damaged(
                f"{where.workspace} is not a Lamina workspace.",
                code="no_workspace",
                hint="Run `lamina init` there, or name another with --workspace.",
            )
        create_workspace(where.workspace, config.owner)
    database = open_database(where.store, config)
    try:
        if (enrol := getattr(database, "enrol", None)) is not None:
            enrol()
        return made(database)
    except BaseException:  # an interrupt must not leave the store open
        database.close()
        raise


def _parts(
    database: Database,
    where: Where,
    clock: Clock | None,
    environment: Mapping[str, str],
    adopt: bool | Literal["key", "seal"],
) -> Parts:
    config, home = where.loaded.config, home_folder(environment)
    sealer = Sealer(load_key(audit_key_file(config, home)))
    database.sealing = sealer
    if adopt != "key":
        database.read(lambda tx: check_key(tx, sealer))
    embedder = open_embedder(config, environment)
    anchor = Anchor(home / "anchors" / f"{quoted(store_id(database))}.anchor", sealer)
    encoder = None if config.embedder == "none" else _packaged("lamina.encoders.static", "StaticEncoder")
    return Parts(
        database=database,
        ruleset=Ruleset(
            sealer,
            read_policy(config.policy),
            _rules(config.rules),
            timedelta(minutes=config.session_minutes),
            timedelta(days=config.pending_days),
            categories=read_categories(config.categories),
            linker=Linking(config.link_min, config.link_k) if config.link_k else None,
            fields=read_fields(config.consent_fields),
            merging=merging(config, None if encoder is None else encoder.embedder_id),
            encoder=encoder,
        ),
        config=config,
        runtime=Runtime(clock=clock or SystemClock()),
        anchor=anchor,
        embedder=embedder,
        home=home,
        root=where.workspace,
        library=Library,
        open_writer=partial(open_writer, config, environment),
        adopt=adopt is True,
        adopt_key=adopt == "key",
        reseal=adopt == "seal",
    )


def audit_key_file(config: Config, home: Path) -> Path:
    """Where the key lies that seals the audit."""
    return Path(config.audit_key_file) if config.audit_key_file else home / "keys" / "audit.key"


def read_policy(named: str) -> Policy:
    """A preset, or the policy in a file; ConfigError says what is wrong with it and where."""
    if named in PRESETS:
        return preset(named)
    path = Path(named).expanduser()
    if path.suffix not in (".toml", ".yaml", ".yml"):
        return preset(named)  # which says what there is
    return load_policy(_text_of(path, "policy"), str(path))


def read_fields(named: str) -> Fields:
    """What needs a person's consent, with what a file of their own says of it."""
    return load_fields(_text_of(Path(named).expanduser(), "consent_fields") if named else "", named)


def read_categories(named: str) -> Categories:
    """What the categories file says; nothing is limited without one."""
    if not named:
        return Categories()
    path = Path(named).expanduser()
    return load_categories(_text_of(path, "categories"), str(path))


def read_tenants(named: str) -> dict[str, str]:
    """The stores of tenants that are not in everybody's, by their names; ConfigError for what is none."""
    if not named:
        return {}
    try:
        found = tomllib.loads(_text_of(Path(named).expanduser(), "tenants"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{named} is not valid TOML: {error}.", hint="Correct the line it names.") from None
    for tenant, url in found.items():
        if not isinstance(url, str) or not is_postgres(url):
            raise ConfigError(
                f"In {named}, the store of the tenant {tenant!r:.60} is not the URL of a PostgreSQL.",
                code="tenants_invalid",
                hint='Write `name = "postgresql://…"`. A file holds one tenant, and is served by itself.',
            )
    return found


def _rules(named: str) -> Callable[[], Rulebook]:
    """The rules of understanding, read when they are asked for; those of a file are tried at once."""
    if not named:
        return lambda: rulebook.rulebook()
    path = Path(named).expanduser()
    book = rulebook.rulebook(_text_of(path, "rules"), str(path))
    return lambda: book


def _text_of(path: Path, what: str) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The {what} file {path} cannot be read.", hint="Check its path, and that it is UTF-8."
        ) from error


def is_postgres(url: str) -> bool:
    return url.startswith(("postgresql://", "postgres://"))


def open_database(url: str, config: Config) -> Database:
    """The tenant's store behind a URL: a file of its own on SQLite, its rows on PostgreSQL."""
    if is_postgres(url):
        driver = load_part("lamina.storage.postgres")
        made = driver.PostgresDatabase(
            url,
            config.tenant,
            config.postgres_connections,
            replica=config.replica_url,
            manual=config.migrate == "manual",
        )
        return cast(Database, made)
    return SqliteDatabase(tenant_file(url, config.tenant), config.tenant)


def open_embedder(config: Config, environment: Mapping[str, str]) -> Embedder | None:
    """The encoder that the settings name, not loaded yet; None for `none` or without its package."""
    kind, _, rest = config.embedder.partition(":")
    if config.embedder == "none":
        return None
    if config.embedder == "reading":
        return _packaged("lamina.encoders.reading", "ReadingEncoder")
    if config.embedder == "static":
        return _packaged("lamina.encoders.static", "StaticEncoder")
    if kind == "onnx" and rest:
        return cast(Embedder, load_part("lamina.encoders.onnx").OnnxEncoder(Path(rest)))
    if kind in {"http", "https"} and config.embedder_model:
        remote, tended = map(import_module, ("lamina.encoders.remote", "lamina.encoders.port"))
        endpoint = remote.Endpoint(
            url=config.embedder, model=config.embedder_model, key_variable=config.embedder_key
        )
        hasty = replace(endpoint, timeout_s=_QUESTION_S, attempts=1)
        patient = remote.RemoteEncoder(endpoint, environment, pause)
        return cast(
            Embedder, tended.Tended(remote.RemoteEncoder(hasty, environment, pause), patient, monotonic)
        )
    raise ConfigError(
        "The setting `embedder` names no encoder.",
        code="encoder_unknown",
        hint="Use reading, static, none, onnx:FOLDER, or a URL with `embedder_model` beside it.",
    )


def _packaged(module: str, name: str) -> Embedder | None:
    """An encoder that `lamina-encoder` brings, where it is installed."""
    return _loaded_once(module, name) if find_spec("lamina_encoder") else None


@cache
def _loaded_once(module: str, name: str) -> Embedder:
    """One for all engines of a process: reading its files takes longer than a write."""
    return cast(Embedder, getattr(import_module(module), name)())


def local_token(engine: Engine, home: Path) -> Path:
    """The file with the owner's own token for this store; made anew when it is gone or no longer accepted."""
    tokens = import_module("lamina.lifecycle.tokens")
    path = home / "tokens" / f"{quoted(store_id(engine.database))}.token"
    try:
        tokens.authenticate(engine, path.read_text("ascii").strip())
        return path
    except (OSError, UnicodeDecodeError, Unauthenticated):
        _, text = tokens.create_token(engine, "local", rights=tuple(Right))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text + "\n")
    return path


def open_writer(config: Config, environment: Mapping[str, str]) -> Writer | None:
    """The language model that the settings name, not asked yet; None for `none`."""
    if config.writer == "none":
        return None
    protocol, _, url = config.writer.partition(":")
    if protocol not in ("openai", "anthropic") or not url or not config.writer_model:
        raise ConfigError(
            "The setting `writer` names no language model.",
            code="writer_unknown",
            hint="Use none, or openai:URL or anthropic:URL with `writer_model` beside it.",
        )
    model = (protocol, url, config.writer_model, config.writer_key)
    return cast("Writer", load_part("lamina.jobs.models").NetworkWriter(*model, environment))


def run_job(
    engine: Engine, name: str, *, scheduled: bool = False, dry_run: bool = False, agreed: bool = False
) -> JobReport:
    """Run a job now, with the language model that the settings name, if any."""
    writer, jobs = open_writer(engine.config, os.environ), import_module("lamina.jobs.run")
    asked = jobs.Asked(scheduled=scheduled, dry_run=dry_run, agreed=agreed, writer=writer)
    return cast("JobReport", jobs.run_job(engine, name, engine.now(), asked))


def open_tenants(engine: Engine, environment: Mapping[str, str]) -> Tenants | None:
    """The other tenants of a server that has no tenant to itself; None for one that has, or a file."""
    if not is_postgres(engine.database.url) or engine.config.tenant != ANYBODYS:
        return None
    elsewhere, mutex, own = read_tenants(engine.config.tenants), threading.Lock(), engine.database.url
    servers: dict[str, Any] = {own: engine.database}

    def glance(tenant: str) -> Engine:
        url = elsewhere.get(tenant, own)
        found = copy(engine)
        found.root, found.library, found.config = None, None, replace(engine.config, tenant=tenant, store=url)
        if url not in servers:
            with mutex:
                if url not in servers:
                    servers[url] = open_database(url, replace(found.config, replica_url=""))
                    engine.closing.callback(servers[url].close)
        found.database = servers[url].of(tenant)
        return found

    def open_one(tenant: str) -> Engine:
        found: Any = glance(check_name(tenant))
        found.database.enrol()
        where = Where(workspace=None, store=found.config.store, loaded=Loaded(found.config, {}))
        return type(engine)(_parts(found.database, where, engine.runtime.clock, environment, False))

    def names() -> list[str]:
        return sorted({*servers[own].tenants(), *elsewhere} - {engine.config.tenant})

    made: Tenants = import_module("lamina.engine").Tenants(glance, open_one, names)
    return made


def serve_http(
    engine: Engine,
    announce: Callable[[str], None],
    environment: Mapping[str, str],
    open_link: Callable[[str], object] | None = None,
) -> None:
    """Serve the API, the pages and the tools until interrupted; `announce` gets lines for a person to read.

    `open_link` is handed the link that lets the owner's browser in.
    """
    server = load_part("lamina.doors.http.server")
    engine.tenants = open_tenants(engine, environment)
    beside = server.Beside(
        hints=load_part("lamina.documents.hints").hints if find_spec("watchfiles") else None,
        site=load_part("lamina.studio.app").Studio,
        tools=load_part("lamina.doors.mcp.server").http_app if find_spec("mcp") else None,
        open_link=open_link,
    )
    server.serve(engine, local_token(engine, home_folder(environment)), announce, beside)


def serve_mcp(mind: ScopedMemory, engine: Engine, *, http: bool, tools: str) -> None:
    """Serve the Model Context Protocol over stdio, or over HTTP on the configured host and port."""
    gc.disable()  # the SDK makes a class for each message of two protocols, and lets go of none
    door = load_part("lamina.doors.mcp.server")
    gc.freeze()
    gc.enable()
    door.serve(mind, engine, http=http, tools=tools)
