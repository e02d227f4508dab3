"""`lab32 explain` in a notebook: a drawing of the accesses of one line of the student's own kernel."""

import os
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from lab32 import ROOT
from lab32.results import BINARY, submissions
from lab32.score_report import message_html


class Picture:
    """An SVG and the words that go with it."""

    def __init__(self, svg, words=""):
        self.svg, self.words = svg, words

    def _repr_html_(self):
        name, _, message = self.words.partition("\n")
        words = (f"<p><b>{escape(name)}</b></p>" if name else "") + message_html(message)
        # Drawn on white, and as wide as the page at most.
        return f"{words}<div style='background: white; max-width: 60em'>{self.svg}</div>"

    def _repr_pretty_(self, printer, cycle):
        title = re.search(r"<title>(.*?)</title>", self.svg, re.DOTALL)
        printer.text("\n".join(filter(None, [self.words, title and title[1].strip()])))


class NoPicture:
    """Why there is none, in one line."""

    def __init__(self, reason):
        self.reason = reason

    def __str__(self):
        words = self.reason if "no picture" in self.reason else f"no picture: {self.reason}"
        return words[:1].upper() + words[1:] + "." * (not words.endswith("."))

    def _repr_html_(self):
        return "<p>" + re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(str(self))) + "</p>"

    def _repr_pretty_(self, printer, cycle):
        printer.text(str(self))


def drawn(arguments):
    """`lab32 explain ARGUMENTS --format svg`."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "picture.svg"
        command = [str(BINARY), "explain", "--format", "svg", "-o", str(target), *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False,
                              env=os.environ | {"LAB32_PYTHON": sys.executable})  # fmt: skip
        return of_file(target, done.stdout, done.stderr, done.returncode)


def of_file(target, output, errors, status):
    """What `lab32 explain` left there; where it left nothing, the reason that it gave."""
    if target.is_file():
        return Picture(target.read_text(), output.strip())
    said = (errors or output).strip().splitlines() or [f"lab32 explain ended with status {status}"]
    return NoPicture(said[-1].removeprefix("lab32: "))


def of_check(lab, check=None, more=()):
    """Of the worst access of a check of the student's submission; without a check, of the lab's worst."""
    check = [check] if check else []
    return drawn([lab, *check, "--dir", str(submissions(lab)), *more])


MOST_TRIES = 3  # each of them runs the lab's kernels


def of_result(lab):
    """Of the check that lost the most points by how it accesses memory, with its message. A picture
    that would tell what a question asks is withheld: then of the next one."""
    wasteful = [t for t in lab.tests if t.failure and t.failure["kind"] == "wasteful"]
    wasteful.sort(key=lambda test: test.score - test.max_score)
    shown = None
    for test in wasteful[:MOST_TRIES]:
        # The same random inputs: the picture is of the launch that the message speaks of.
        picture = of_check(lab.name, test.name, ["--seed", str(lab.seed)])
        if isinstance(picture, Picture):
            picture.words = f"{test.name}\n{test.message}"
            return picture
        shown = shown or picture
    return shown or NoPicture("no check of this result lost points by its accesses")
