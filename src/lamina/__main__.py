"""Starts the command line; everything heavy is loaded by the command that needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina import __version__
from lamina.doors.cli.app import run
from lamina.doors.cli.doors import Doors, Opening

if TYPE_CHECKING:
    from lamina.doors.doctor import Check
    from lamina.engine import Engine


def main() -> None:
    """The `lamina` command."""
    sys.exit(run(_doors(), sys.argv[1:]))


def _doors() -> Doors:
    return Doors(
        version=__version__,
        find_workspace=_late("lamina.workspace.layout", "find_workspace"),
        create_workspace=_late("lamina.workspace.layout", "create_workspace"),
        load_config=_late("lamina.config", "load_config"),
        knobs=_late("lamina.config", "knobs"),
        parse_time=_late("lamina.text.ttl", "parse_time"),
        parse_ttl=_late("lamina.text.ttl", "parse_ttl"),
        open_memory=_open_memory,
        read_policy=_late("lamina.opening", "read_policy"),
        examine=_examine,
        create_token=_late("lamina.lifecycle.tokens", "create_token"),
        list_tokens=_late("lamina.lifecycle.tokens", "list_tokens"),
        revoke_token=_late("lamina.lifecycle.tokens", "revoke_token"),
        list_jobs=_late("lamina.jobs.run", "list_jobs"),
        job_time=_late("lamina.jobs.clockwork", "hard_stop_s"),
        run_job=_late("lamina.opening", "run_job"),
        clockwork=_late("lamina.jobs.clockwork", "Clockwork"),
        list_decisions=_late("lamina.jobs.decision_list", "list_decisions"),
        find_decision=_late("lamina.jobs.decision_list", "find_decision"),
        overrule_decision=_late("lamina.jobs.decision_list", "overrule"),
        import_files=_late("lamina.imports.bring_in", "import_files"),
        proposals=_late("lamina.lifecycle.consent", "proposals"),
        writing_rates=_late("lamina.layers.writing", "rates"),
        relations=_late("lamina.layers.relations", "Relations"),
        export_graph=_late("lamina.layers.relations", "exported"),
        purge=_late("lamina.lifecycle.purge", "purge"),
        verify_purge=_late("lamina.lifecycle.purge", "verify_purge"),
        erase=_late("lamina.lifecycle.erase", "erase"),
        export=_late("lamina.lifecycle.export", "export"),
        show_bar=_late("lamina.doors.cli.bar", "shown"),
        serve_http=_serve_http,
        serve_mcp=_serve_mcp,
    )


def _late(module: str, name: str) -> Callable[..., Any]:
    """A function whose module is loaded when it is called."""

    def called(*args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(module), name)(*args, **kwargs)

    return called


def _open_memory(opening: Opening) -> Engine:
    clock = None if opening.at is None else import_module("lamina.clock").FixedClock(opening.at)
    engine: Engine = import_module("lamina.opening").open_memory(
        opening.workspace, clock=clock, create=False, adopt=opening.adopt, **opening.settings
    )
    return engine


def _examine(opening: Opening) -> Sequence[Check]:
    doctor = import_module("lamina.doors.doctor")
    config = import_module("lamina.config")
    checks: Sequence[Check] = doctor.examine(
        doctor.Patient(
            workspace=opening.workspace,
            home=config.home_folder(os.environ),
            open_memory=lambda: _open_memory(opening),
            open_scratch=_scratch,
        )
    )
    return checks


@contextmanager
def _scratch() -> Iterator[Engine]:
    """A memory in a folder of its own, with a home of its own, gone afterwards."""
    with import_module("tempfile").TemporaryDirectory(prefix="lamina-doctor-") as folder:
        environment = {"LAMINA_HOME": f"{folder}/home"}
        target = Path(folder) / "workspace"
        with import_module("lamina.opening").open_memory(target, environment=environment) as engine:
            yield engine


def _serve_http(engine: Engine, announce: Callable[[str], None]) -> None:
    import_module("lamina.opening").serve_http(engine, announce, os.environ)


def _serve_mcp(mind: Any, engine: Engine, http: bool, tools: str) -> None:
    import_module("lamina.opening").serve_mcp(mind, engine, http=http, tools=tools)


if __name__ == "__main__":
    main()
