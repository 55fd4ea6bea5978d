"""Which address shows which screen, and what the menu names."""

from __future__ import annotations

from collections.abc import Mapping

from lamina.studio.screens import ask, govern, home, library, memories, memory, review, transfer
from lamina.studio.visit import Screen

#: Method and path to the screen.
SCREENS: Mapping[str, Screen] = {
    "GET /": home.home,
    "POST /say": home.say,
    "GET /memories": memories.memories,
    "POST /memories/bulk": memories.bulk,
    "GET /memory/{id}": memory.memory,
    "POST /memory/{id}": memory.revise,
    "GET /memory/{id}/raw": memory.raw,
    "POST /memory/{id}/purge": memory.purge,
    "POST /memory/{id}/promote": memory.promote,
    "POST /memory/{id}/{act}": memory.act,
    "GET /review": review.review,
    "POST /review": review.decide,
    "GET /ask": ask.ask,
    "GET /prompt": ask.prompt,
    "GET /time": library.time,
    "POST /time/undo": library.undo,
    "GET /layers": library.layers,
    "POST /layers/model": library.save_model,
    "GET /decisions": library.decisions,
    "POST /decisions/{id}/supersede": library.supersede,
    "GET /documents/{path:path}": library.document,
    "GET /policy": govern.policy,
    "POST /policy": govern.would_keep,
    "GET /agents": govern.agents,
    "POST /agents/tokens": govern.make_token,
    "POST /agents/tokens/{id}/revoke": govern.revoke,
    "GET /audit": govern.audit,
    "POST /audit/verify": govern.verify,
    "GET /audit/trace": govern.trace,
    "GET /transfer": transfer.transfer,
    "POST /transfer/import": transfer.bring_in,
    "GET /transfer/export": transfer.export,
    "POST /transfer/jobs/{name}": transfer.run_job,
    "POST /transfer/erase": transfer.erase,
}
#: The menu: path and the key of its name.
NAVIGATION = (
    ("/", "home"),
    ("/memories", "memories"),
    ("/review", "review"),
    ("/ask", "ask"),
    ("/prompt", "prompt"),
    ("/time", "time"),
    ("/layers", "layers"),
    ("/decisions", "decisions"),
    ("/policy", "policy"),
    ("/agents", "agents"),
    ("/audit", "audit"),
    ("/transfer", "transfer"),
)
#: First parts of the paths that are Studio's own.
OWN_PATHS = frozenset(
    {
        *(path for path, _ in NAVIGATION),
        "/memory",
        "/documents",
        "/sign-in",
        "/sign-out",
        "/static",
        "/favicon.ico",
        "/docs",
        "/live",
    }
)
