"""The command `lab32` of an installed wheel: it starts the program inside the wheel."""

import importlib.metadata
import importlib.util
import json
import os
import sys
from urllib.parse import unquote

from lab32 import ROOT

# The packages of the extra `class`, which the wheel alone does not install.
CLASS = ("yaml", "rich", "submitit", "nbconvert", "nbclient", "ipykernel", "matplotlib", "pandas")
NEEDED = {"class": CLASS, "similarity": ("yaml", "rich")}


def pip_install_target():
    """What pip can install: the path of the wheel's file if pip has recorded it, else the bare name of the package."""
    try:
        text = importlib.metadata.distribution("lab32").read_text("direct_url.json")
        return unquote(json.loads(text)["url"].removeprefix("file://"))
    except (importlib.metadata.PackageNotFoundError, TypeError, ValueError, KeyError):
        return "lab32"


def main():
    program, command = ROOT / "build/lab32", (sys.argv[1:] or [""])[0]
    if missing := [name for name in NEEDED.get(command, ()) if not importlib.util.find_spec(name)]:
        print(f"lab32 {command}: it needs Python packages that are not installed ({', '.join(missing)}); "
              f"install them with: pip install '{pip_install_target()}[class]'", file=sys.stderr)  # fmt: skip
        return 2
    # The program starts this very interpreter for `lab32 class`, which runs in Python.
    os.environ["LAB32_PYTHON"] = sys.executable
    return os.execv(program, ["lab32", *sys.argv[1:]])
