"""Starts the command line; everything heavy is loaded by the command that needs it."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from lamina import __version__

if TYPE_CHECKING:
    from lamina.doors.cli.doors import Doors, OpenRequest
    from lamina.doors.doctor import Check
    from lamina.engine import Engine


def main() -> None:
    """The `lamina` command."""
    words = sys.argv[1:]
    if (answer := _at_once(words)) is not None:
        sys.stdout.write(answer)
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of numpy's that wait cost more than they do
    gc.set_threshold(50_000)  # what is loaded stays: to look through it again and again finds nothing
    _spare_documentation()
    if "--harness" in words and "hook" in words[:3]:
        _leave(_hook(words))
    _leave(import_module("lamina.doors.cli.app").run(doors(), words))


def _spare_documentation() -> None:
    """Keep numpy from writing its documentation onto its functions: that takes as long as all the rest of it.

    Nothing else is in these modules of numpy's; another version that has none such loads as it always does.
    """
    for name in ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars"):
        sys.modules.setdefault(name, ModuleType(name))


def _leave(code: int) -> NoReturn:
    """End, after what was to be done at the end.

    Python would take everything apart first, which is a sixth of what a short command costs.
    """
    if threading.active_count() == 1:
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):  # nobody reads any more, which Python says in its own way
            sys.exit(code)
        os._exit(code)
    sys.exit(code)


def _at_once(words: Sequence[str]) -> str | None:
    """What needs no memory and no catalogue: the version, and the list of commands."""
    if words == ["--version"]:
        return f"lamina {__version__}\n"
    if words in ([], ["--help"], ["-h"]):
        name = "help.txt" if words else "first.txt"
        return (Path(__file__).parent / "doors" / "cli" / "data" / name).read_text("utf-8")
    return None


def _hook(words: Sequence[str]) -> int:
    """A client's hook, without the command line around it: it is called at every prompt."""
    hook = import_module("lamina.doors.harness.hook")
    ended: int = hook.run(words, moment, os.environ, hook.Streams())
    return ended


def moment(event: Any) -> Any:
    """Carry out one moment of a client's session; to tell takes less of the memory than to hear."""
    opening, talk = import_module("lamina.opening"), import_module("lamina.doors.harness.talk")
    tells = event.verb in ("session-start", "prompt")
    if not tells or (event.verb == "session-start" and any(talk.ClientTalk.unheard(event))):
        opened = partial(opening.open_memory, create=False, environment=os.environ)
        told = import_module("lamina.doors.harness.capture").handle(event, opened)
        if not tells:
            return told
    return import_module("lamina.doors.harness.tell").tell(
        event, partial(opening.open_store, environment=os.environ)
    )


def doors() -> Doors:
    """What the command line is handed."""
    made: Doors = import_module("lamina.doors.cli.doors").Doors(
        version=__version__,
        open_memory=_open_memory,
        read_policy=_late("lamina.opening", "read_policy"),
        examine=_examine,
        show_bar=_late("lamina.doors.cli.bar", "shown"),
        serve_http=_serve_http,
        serve_mcp=_serve_mcp,
        custody=partial(import_module, "lamina.custody"),
    )
    return made


def _late(module: str, name: str) -> Callable[..., Any]:
    """A function whose module is loaded when it is called."""

    def called(*args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(module), name)(*args, **kwargs)

    return called


def _open_memory(opening: OpenRequest) -> Engine:
    clock = None if opening.at is None else import_module("lamina.clock").FixedClock(opening.at)
    engine: Engine = import_module("lamina.opening").open_memory(
        opening.workspace,
        clock=clock,
        create="anew" if opening.anew else False,
        adopt=opening.adopt,
        **opening.settings,
    )
    return engine


def _examine(opening: OpenRequest, fix: bool) -> Sequence[Check]:
    doctor = import_module("lamina.doors.doctor")
    config = import_module("lamina.config")
    checks: Sequence[Check] = doctor.examine(
        doctor.Patient(
            workspace=opening.workspace,
            home=config.home_folder(os.environ),
            open_memory=lambda: _open_memory(opening),
            open_scratch=_scratch,
        ),
        fix=fix,
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


def _serve_http(engine: Engine, announce: Callable[[str], None], opens: bool) -> None:
    show = import_module("webbrowser").open if opens else None
    import_module("lamina.opening").serve_http(engine, announce, os.environ, show)


def _serve_mcp(memory: Any, engine: Engine, http: bool, tools: str) -> None:
    import_module("lamina.opening").serve_mcp(memory, engine, http=http, tools=tools)


if __name__ == "__main__":
    main()
