"""Questions to a folder of markdown notes: `python ask.py [QUESTION …]`.

The notes stay where they are and as they are; Lamina reads them and says file and lines for every answer.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import lamina

QUESTIONS = ["When is the kiln fired, and why?", "how hot for winter blue", "老客户有折扣吗?", "ร้านปิดวันไหน"]


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Path(scratch) / "workspace"  # use the folder that has your notes instead
        shutil.copytree(Path(__file__).parent / "notes", workspace / "notes")
        (workspace / "lamina.toml").write_text('extra_paths = "notes"\n')
        with lamina.open(workspace, owner="ana") as memory:
            ana = memory.scope()
            for question in sys.argv[1:] or QUESTIONS:
                print(question)
                for hit in ana.search(question).results[:1]:
                    print(f"  {hit.path}, lines {hit.start_line} to {hit.end_line}")


if __name__ == "__main__":
    main()
