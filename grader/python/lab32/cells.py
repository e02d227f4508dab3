"""Runs a notebook's cell of CUDA C++ with lab32's commands, and reports positions as lines of the cell."""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab32 import ROOT
from lab32.results import BINARY

NAME = "cell.cu"
NO_MAIN = "the cell has no main()"


@dataclass
class NotebookCellOutcome:
    status: int
    output: str
    errors: str

    @property
    def was_compiled_and_linked(self):
        return "does not compile" not in self.errors and NO_MAIN not in self.errors


class NotebookCellFile:
    """A notebook's cell, stored in a folder of its own. Line 1 is the line of the magic command, so that line numbers
    match Jupyter's."""

    def __init__(self, text):
        self.lines = ["", *text.splitlines()]
        self.folder = tempfile.TemporaryDirectory(prefix="lab32-cell-")
        self.path = Path(self.folder.name) / NAME
        self.path.write_text("\n".join(self.lines) + "\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run_lab32(self, command, options=(), arguments=(), compiler=""):
        """Runs `lab32 COMMAND OPTIONS cell.cu -- ARGUMENTS` in the notebook's folder."""
        line = [str(BINARY), command, *options, str(self.path), "--", *arguments]
        folders = f"-I{Path.cwd()} -I{ROOT / 'labs/include'}"
        flags = " ".join(filter(None, [os.environ.get("NVCC_APPEND_FLAGS"), folders, compiler]))
        environment = os.environ | {"NVCC_APPEND_FLAGS": flags, "LAB32_PYTHON": sys.executable}
        try:
            done = subprocess.run(line, env=environment, capture_output=True, text=True,
                                  errors="replace", stdin=subprocess.DEVNULL, check=False)  # fmt: skip
        except FileNotFoundError:
            raise RuntimeError(f"there is no {BINARY}: run `make build` first") from None
        return NotebookCellOutcome(done.returncode, self.replace_positions_by_cell_lines(done.stdout), self.replace_positions_by_cell_lines(done.stderr))

    def replace_positions_by_cell_lines(self, text):
        """`/tmp/…/cell.cu(7): error: …` -> `line 7 of the cell: error: …`, with that line of the cell below."""
        text = text.replace(str(self.path), NAME)
        if re.search(r"undefined reference to `main'", text):
            return f"{NO_MAIN}: a cell must be a complete program\n"
        lines, found = text.splitlines(keepends=True), []
        k = 0
        while k < len(lines):
            match = re.match(rf"{re.escape(NAME)}\((\d+)\): (.*)", lines[k])
            if not match:
                found.append(re.sub(rf"\b{re.escape(NAME)}:(\d+)", r"line \1 of the cell", lines[k]))
                k += 1
                continue
            number = int(match[1])
            found.append(f"line {number} of the cell: {match[2]}\n")
            # nvcc shows the line with its macros expanded and a caret below. The student's own line is shown instead,
            # with the caret only if both lines are equal up to there.
            quoted, caret = (lines[k + 1 : k + 3] + ["", ""])[:2]
            mine = self.lines[number - 1] if number <= len(self.lines) else ""
            found.append(f"{number:5} | {mine}\n")
            k += 1
            if caret.strip() == "^":
                if quoted.strip() == mine.strip():
                    shift = len(mine) - len(mine.lstrip()) - (len(quoted) - len(quoted.lstrip()))
                    found.append(" " * (8 + shift) + caret)
                k += 2
        return "".join(found)
