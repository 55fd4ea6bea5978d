"""A pytest plugin (`-p tests.no_drivers`): in this process no driver, server or framework can be imported."""

import sys

for _name in ("apsw", "psycopg", "psycopg_pool", "starlette", "uvicorn", "mcp", "langgraph"):
    sys.modules[_name] = None  # type: ignore[assignment]  # what the import system takes for "there is none"
