"""compare50's signal: what two texts share as C's tokens, names and numbers apart. It compares files that
do not compile, too. It runs in an environment of its own, which is made when it is first needed."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab32 import ROOT
from lab32.classroom.problem import visible
from lab32.similarity.compiled import end

HERE = Path(__file__).resolve().parent
PINNED = HERE / "compare50.txt"
SCRIPT = HERE / "compare50_pairs.py"
LONGEST = 256 << 10  # characters of a text that are compared; the longest solution has 16,000
SECONDS = 900
THRESHOLD = 0.5
CHARACTERS = 600  # of both together that are matched


class Unavailable(Exception):
    """Why there is no compare50, in one line."""


@dataclass
class Tokens:
    """Of a pair: compare50's own score, and how much of each text outside of the skeleton is matched."""

    score: float
    shares: tuple
    characters: int = 0
    lines: tuple = ((), ())

    def share(self):
        return min(self.shares)

    def flagged(self):
        return self.share() >= THRESHOLD and self.characters >= CHARACTERS


def folder():
    """Beside .venv; of an installed lab32, with the user's other caches."""
    if (ROOT / "Makefile").exists():
        return ROOT / ".venv-compare50"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "lab32", "compare50")


def environment(where=None, pinned=PINNED):
    """Its Python. Raises Unavailable."""
    where = where or folder()
    python, stamp = where / "bin/python", where / "installed"
    wanted = hashlib.sha256(Path(pinned).read_bytes() + sys.version.encode()).hexdigest()
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        with open(where.with_name(where.name + ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if stamp.exists() and stamp.read_text() == wanted and python.exists():
                return python
            shutil.rmtree(where, ignore_errors=True)
            quiet([sys.executable, "-m", "venv", where])
            quiet(
                [python, "-m", "pip", "install", "--retries", "1", "--disable-pip-version-check",
                 "-r", pinned]
            )  # fmt: skip
            stamp.write_text(wanted)
            return python
    except OSError as error:
        raise Unavailable(f"{visible(error.filename or where)}: {error.strerror}") from None


def quiet(command):
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    )  # fmt: skip
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Unavailable(visible(said[-1]) if said else f"status {done.returncode}")


def plain(data):
    """Text as everybody reads it: any bytes may have been handed in."""
    return data.decode("utf-8", "replace").replace("\0", " ")[:LONGEST]


def compared(python, lab, files, skeleton, most, asked=()):
    """({(a, b): Tokens}, names of those that cannot be read) of {name: bytes}: the `most` alike, and
    those that are asked for. Raises Unavailable."""
    names = sorted(files)
    with tempfile.TemporaryDirectory(prefix="lab32-similarity-") as scratch:
        # No name of a student's becomes a path.
        for at, name in enumerate(names):
            path = Path(scratch, str(at), f"{lab}.cu")
            path.parent.mkdir()
            path.write_text(plain(files[name]), "utf-8", newline="")
        path = Path(scratch, "given", f"{lab}.cu")
        path.parent.mkdir()
        path.write_text(plain(Path(skeleton).read_bytes()), "utf-8", newline="")
        number = {name: at for at, name in enumerate(names)}
        order = {
            "folder": scratch, "file": f"{lab}.cu", "count": len(names), "most": most,
            "asked": [[number[a], number[b]] for a, b in asked],
        }  # fmt: skip
        record = run(python, order)
    out = {}
    for pair in record["pairs"]:
        first, second = sorted(zip(pair["who"], pair["shares"], pair["lines"]))
        out[names[first[0]], names[second[0]]] = Tokens(
            pair["score"], (first[1], second[1]), pair["characters"], (first[2], second[2])
        )
    return out, [names[at] for at in record["unread"]]


def run(python, order):
    process = subprocess.Popen(
        [python, "-P", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        # It picks by Python's hash(): or each run finds something else.
        | {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1"},
    )  # fmt: skip
    try:
        out, said = process.communicate(json.dumps(order).encode(), timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"it was not done after {SECONDS} s") from None
    finally:
        end(process)
    try:
        return json.loads(out)
    except ValueError:
        last = said.decode("utf-8", "replace").strip().splitlines()
        raise Unavailable(
            visible(last[-1]) if last else f"it ended with status {process.returncode}"
        ) from None
