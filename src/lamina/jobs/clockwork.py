"""Starts the jobs that are due, each in a process of its own, and stops one that outstays its time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields

from lamina.clock import monotonic
from lamina.config import Config
from lamina.errors import LaminaError
from lamina.jobs.registry import JOBS
from lamina.jobs.run import Jobs, due_jobs, job_named
from lamina.write.store import Store

TICK_S = 15.0
AT_ONCE = 16  #: jobs that run at a time, whosever they are; the others are due at the next tick still
GRACE_S = 10.0  #: a run stops itself when its time is up; this long after that it is stopped from outside

Say = Callable[[str], None]


class Clockwork:
    """The running jobs of one process; `over` ends it."""

    def __init__(
        self, store: Store, say: Say, jobs: Jobs = JOBS, stores: Callable[[], Iterable[Store]] | None = None
    ) -> None:
        """`stores` gives those whose jobs are looked at in one tick, where there are more than one."""
        self.over = threading.Event()
        self._stores = stores or (lambda: (store,))
        self._say = say
        self._jobs = jobs
        self._running: dict[tuple[str, str], tuple[subprocess.Popen[bytes], float]] = {}

    def run(self, tick_s: float = TICK_S) -> None:
        """Start what is due until `over` is set; then end what runs, and return when it has ended."""
        try:
            while not self.over.is_set():
                self.tick()
                self.over.wait(tick_s)
        finally:
            self._end_all()

    def tick(self) -> None:
        """Look after the running ones once, and start the ones that are due."""
        for (tenant, name), (child, latest) in list(self._running.items()):
            if child.poll() is not None:
                del self._running[tenant, name]
                if child.returncode:
                    self._say(f"{name} did not succeed; `lamina job list` says more.")
            elif monotonic() > latest:
                child.kill()  # its locks are freed by the kernel
        try:
            for store in self._stores():
                self._start_due(store)
        except LaminaError as error:  # a store out of reach now may be back at the next tick
            self._say(str(error))

    def _start_due(self, store: Store) -> None:
        for name in due_jobs(store, store.now(), self._jobs):
            run = (store.config.tenant, name)
            if run not in self._running and len(self._running) < AT_ONCE:
                latest = monotonic() + self._jobs[name].timeout_s + 2 * GRACE_S
                self._running[run] = (self._started(store, name), latest)

    def _started(self, store: Store, name: str) -> subprocess.Popen[bytes]:
        where = [] if store.root is None else ["--workspace", str(store.root)]
        command = [sys.executable, "-m", "lamina", *where, "job", "run", name, "--scheduled"]
        # The settings travel in the environment: a store's URL may hold a password, and arguments are public.
        settings, nothing = _environment(store.config), subprocess.DEVNULL
        return subprocess.Popen(command, env=settings, stdin=nothing, stdout=nothing)  # noqa: S603 our own program

    def _end_all(self) -> None:
        for child, _ in self._running.values():
            with suppress(ProcessLookupError):
                child.terminate()
        for child, _ in self._running.values():
            try:
                child.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._running.clear()


@contextmanager
def jobs_beside(
    store: Store, say: Say, stores: Callable[[], Iterable[Store]] | None = None
) -> Iterator[None]:
    """Run the jobs in the background while something else goes on, where the settings ask for it."""
    if not store.config.jobs:
        yield
        return
    clockwork = Clockwork(store, say, stores=stores)
    thread = threading.Thread(target=clockwork.run, name="lamina-jobs", daemon=True)
    thread.start()
    try:
        yield
    finally:
        clockwork.over.set()
        thread.join()


def hard_stop_s(store: Store, name: str) -> float:
    """How long a process that runs this job may live."""
    return job_named(store, name).timeout_s + GRACE_S


def _environment(config: Config) -> dict[str, str]:
    values = {field.name: getattr(config, field.name) for field in fields(config)}
    settings = {
        f"LAMINA_{name.upper()}": str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
    }
    return {**os.environ, **settings}
