"""Start the MCP server that a client's file names, and use it once: `python check.py mcp.json`.

The workspace in the file is not touched: a scratch folder takes its place. Needs, in a clone of
Lamina: pip install '.[mcp]'
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import lamina


async def check(command: str, arguments: list[str]) -> None:
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        tools = (await client.list_tools()).tools
        print(f"lamina serves {len(tools)} tools")
        kept = await client.call_tool("memory_remember", {"text": "Ana drinks oat milk"})
        print("memory_remember:", json.loads(kept.content[0].text)["decision"])
        found = await client.call_tool("memory_recall", {"query": "which milk?"})
        print("memory_recall:", json.loads(found.content[0].text)["hits"][0]["text"])


def main() -> None:
    entry = json.loads(Path(sys.argv[1]).read_text("utf-8"))["mcpServers"]["lamina"]
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["LAMINA_HOME"] = f"{scratch}/home"
        arguments = list(entry["args"])
        arguments[arguments.index("-w") + 1] = scratch
        lamina.open(scratch).close()  # makes it a workspace
        asyncio.run(check(entry["command"], arguments))


if __name__ == "__main__":
    main()
