"""The commands by name, each built when it is asked for: building all takes longer than most of them run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import typer
from typer.core import TyperGroup
from typer.main import get_command

HELP = {"help_option_names": ["-h", "--help"]}
F = TypeVar("F", bound=Callable[..., int])


class Commands:
    """Some commands, and for each the line that says what it does."""

    def __init__(self, parts: Iterable[Commands] = ()) -> None:
        self.apps: dict[str, typer.Typer] = {}
        self.summaries: dict[str, str] = {}
        for part in parts:
            self.apps |= part.apps
            self.summaries |= part.summaries

    def add(self, name: str) -> Callable[[F], F]:
        """Makes a function a command; its docstring is the help."""

        def added(function: F) -> F:
            self.apps[name] = _app()
            self.apps[name].command(name)(function)
            self.summaries[name] = (function.__doc__ or "").strip().partition("\n")[0]
            return function

        return added

    def group(self, name: str, summary: str) -> typer.Typer:
        """A command with commands of its own."""
        app = self.apps[name] = _app(help=summary)
        app.callback()(_nothing)
        self.summaries[name] = summary
        return app


class LazyGroup(TyperGroup):
    """Typer's group over commands that are built one at a time; a subclass names them."""

    known = Commands()

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = self.known.apps  # Typer makes its suggestions from these names

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 Typer's signature
        app = self.known.apps.get(cmd_name)
        return None if app is None else get_command(app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 Typer's signature
        with formatter.section("Commands"):
            formatter.write_dl(list(self.known.summaries.items()))


def _app(**settings: Any) -> typer.Typer:
    return typer.Typer(rich_markup_mode=None, add_completion=False, context_settings=HELP, **settings)


def _nothing() -> None:
    """A group does nothing before its command."""
