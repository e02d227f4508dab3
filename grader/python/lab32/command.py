"""The command `lab32` of an installed wheel: starts the program that lies in it."""

import importlib.metadata
import importlib.util
import json
import os
import sys
from urllib.parse import unquote

from lab32 import ROOT

# What comes with the extra `class`, and not with the wheel alone.
CLASS = ("yaml", "rich", "submitit", "nbconvert", "nbclient", "ipykernel", "matplotlib", "pandas")
NEEDED = {"class": CLASS, "similarity": ("yaml", "rich")}


def wheel():
    """The file that pip has installed; the mere name, where pip does not tell."""
    try:
        text = importlib.metadata.distribution("lab32").read_text("direct_url.json")
        return unquote(json.loads(text)["url"].removeprefix("file://"))
    except (importlib.metadata.PackageNotFoundError, TypeError, ValueError, KeyError):
        return "lab32"


def main():
    program, command = ROOT / "build/lab32", (sys.argv[1:] or [""])[0]
    if missing := [name for name in NEEDED.get(command, ()) if not importlib.util.find_spec(name)]:
        print(f"lab32 {command}: its Python packages are not here ({', '.join(missing)}); "
              f"to install them: pip install '{wheel()}[class]'", file=sys.stderr)  # fmt: skip
        return 2
    # `lab32 class` is in Python, and for this one.
    os.environ["LAB32_PYTHON"] = sys.executable
    return os.execv(program, ["lab32", *sys.argv[1:]])
