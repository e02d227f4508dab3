"""Computes compare50's signal: the C tokens that two texts share, ignoring names and numbers. It also compares
files that do not compile. compare50 has an environment of its own, which is created at first use."""

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
from lab32.classroom.problem import printable_line
from lab32.similarity.compiled import terminate

HERE = Path(__file__).resolve().parent
PINNED = HERE / "compare50.txt"
SCRIPT = HERE / "compare50_pairs.py"
LONGEST = 256 << 10  # characters per text that are compared; the longest solution has 16,000
SECONDS = 900
THRESHOLD = 0.5
CHARACTERS = 600  # least number of matched characters in both texts together


class Compare50Unavailable(Exception):
    """Raised if compare50 cannot be used; the text is the reason, in one line."""


@dataclass
class SubmissionPairTokenScore:
    """The score that compare50 gives to a pair, and the matched share of each text without the skeleton's parts."""

    score: float
    shares: tuple
    characters: int = 0
    lines: tuple = ((), ())

    def smaller_matched_share(self):
        return min(self.shares)

    def is_flagged(self):
        return self.smaller_matched_share() >= THRESHOLD and self.characters >= CHARACTERS


def compare50_environment_folder():
    """The folder of compare50's environment: next to .venv in a checkout; in the user's cache folder if lab32 was
    installed."""
    if (ROOT / "Makefile").exists():
        return ROOT / ".venv-compare50"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "lab32", "compare50")


def install_compare50(where=None, pinned=PINNED):
    """The path of the environment's Python. Raises Compare50Unavailable if it cannot be installed."""
    where = where or compare50_environment_folder()
    python, stamp = where / "bin/python", where / "installed"
    wanted = hashlib.sha256(Path(pinned).read_bytes() + sys.version.encode()).hexdigest()
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        with open(where.with_name(where.name + ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if stamp.exists() and stamp.read_text() == wanted and python.exists():
                return python
            shutil.rmtree(where, ignore_errors=True)
            run_discarding_stdout_or_raise([sys.executable, "-m", "venv", where])
            run_discarding_stdout_or_raise(
                [python, "-m", "pip", "install", "--retries", "1", "--disable-pip-version-check",
                 "-r", pinned]
            )  # fmt: skip
            stamp.write_text(wanted)
            return python
    except OSError as error:
        raise Compare50Unavailable(f"{printable_line(error.filename or where)}: {error.strerror}") from None


def run_discarding_stdout_or_raise(command):
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    )  # fmt: skip
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Compare50Unavailable(printable_line(said[-1]) if said else f"status {done.returncode}")


def decode_source(data):
    """Decodes a submission, which may contain any bytes."""
    return data.decode("utf-8", "replace").replace("\0", " ")[:LONGEST]


def score_pairs_with_compare50(python, lab, files, skeleton, most, asked=()):
    """({(a, b): SubmissionPairTokenScore}, names of unreadable files) for {name: bytes}. It covers the `most` similar pairs and the
    pairs in `asked`. Raises Compare50Unavailable."""
    names = sorted(files)
    with tempfile.TemporaryDirectory(prefix="lab32-similarity-") as scratch:
        # Files get numbers as names, since no student's name may become a path.
        for at, name in enumerate(names):
            path = Path(scratch, str(at), f"{lab}.cu")
            path.parent.mkdir()
            path.write_text(decode_source(files[name]), "utf-8", newline="")
        path = Path(scratch, "given", f"{lab}.cu")
        path.parent.mkdir()
        path.write_text(decode_source(Path(skeleton).read_bytes()), "utf-8", newline="")
        number = {name: at for at, name in enumerate(names)}
        request = {
            "folder": scratch, "file": f"{lab}.cu", "count": len(names), "most": most,
            "asked": [[number[a], number[b]] for a, b in asked],
        }  # fmt: skip
        record = run_compare50(python, request)
    out = {}
    for pair in record["pairs"]:
        first, second = sorted(zip(pair["members"], pair["shares"], pair["lines"]))
        out[names[first[0]], names[second[0]]] = SubmissionPairTokenScore(
            pair["score"], (first[1], second[1]), pair["characters"], (first[2], second[2])
        )
    return out, [names[at] for at in record["unread"]]


def run_compare50(python, request):
    process = subprocess.Popen(
        [python, "-P", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        # compare50 chooses matches by Python's hash(); with a fixed seed every run finds the same.
        | {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1"},
    )  # fmt: skip
    try:
        out, said = process.communicate(json.dumps(request).encode(), timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Compare50Unavailable(f"it did not finish within {SECONDS} s") from None
    finally:
        terminate(process)
    try:
        return json.loads(out)
    except ValueError:
        last = said.decode("utf-8", "replace").strip().splitlines()
        raise Compare50Unavailable(
            printable_line(last[-1]) if last else f"it ended with status {process.returncode}"
        ) from None
