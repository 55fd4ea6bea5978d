"""Conversations in which no person speaks: schedulers, bots, sub-agents, heartbeats, our own jobs."""

from __future__ import annotations

import re

#: Parts of a session's key or name, and the reason they give; keys look like `agent:main:subagent:…`.
_SESSIONS = (
    (re.compile(r"(?:^|:)(?:cron|scheduler|schedule)(?::|$)", re.I), "scheduler"),
    (re.compile(r"(?:^|:)(?:hook|webhook)(?::|$)", re.I), "hook"),
    (re.compile(r"(?:^|:)(?:sub-?agent|acp)(?::|$)", re.I), "subagent"),
    (re.compile(r"(?:^|:)heartbeat(?::|$)", re.I), "heartbeat"),
    (re.compile(r"(?:^|:)bot(?::|$)", re.I), "bot"),
    (re.compile(r"(?:^|:)(?:lamina-)?job(?::|$)|^lamina[:-]", re.I), "own_job"),
)
_SILENT = re.compile(r"\W*NO_REPLY\W*")
_HEARTBEAT = re.compile(r"\W*HEARTBEAT_OK\W*")
_HEARTBEAT_PROMPT = ("HEARTBEAT.md", "HEARTBEAT_OK")


def excluded_session(name: str) -> str | None:
    """Why a session of this name or key holds no conversation with a person; None where it may."""
    return next((reason for pattern, reason in _SESSIONS if pattern.search(name)), None)


def silent(text: str) -> str | None:
    """Why a turn says nothing to anybody: a heartbeat, or an agent's word for having no answer."""
    if _SILENT.fullmatch(text):
        return "no_reply"
    beats = _HEARTBEAT.fullmatch(text) or all(word in text for word in _HEARTBEAT_PROMPT)
    return "heartbeat" if beats else None
