"""Shows `lab32 explain` in a notebook: a drawing of how one line of the student's kernel accesses memory."""

import os
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from lab32 import ROOT
from lab32.results import BINARY, student_labs_root
from lab32.score_report import message_html


class ExplainedPicture:
    """A picture, as SVG, with its description in words."""

    def __init__(self, svg, words=""):
        self.svg, self.words = svg, words

    def _repr_html_(self):
        name, _, message = self.words.partition("\n")
        words = (f"<p><b>{escape(name)}</b></p>" if name else "") + message_html(message)
        # The drawing has a white background and is at most as wide as the page.
        return f"{words}<div style='background: white; max-width: 60em'>{self.svg}</div>"

    def _repr_pretty_(self, printer, cycle):
        title = re.search(r"<title>(.*?)</title>", self.svg, re.DOTALL)
        printer.text("\n".join(filter(None, [self.words, title and title[1].strip()])))


class MissingPicture:
    """Stands for a picture that cannot be drawn; its text is the reason, in one line."""

    def __init__(self, reason):
        self.reason = reason

    def __str__(self):
        words = self.reason if "no picture" in self.reason else f"no picture: {self.reason}"
        return words[:1].upper() + words[1:] + "." * (not words.endswith("."))

    def _repr_html_(self):
        return "<p>" + re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(str(self))) + "</p>"

    def _repr_pretty_(self, printer, cycle):
        printer.text(str(self))


def explain_picture_or_reason(arguments):
    """Runs `lab32 explain ARGUMENTS --format svg`."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "picture.svg"
        command = [str(BINARY), "explain", "--format", "svg", "-o", str(target), *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False,
                              env=os.environ | {"LAB32_PYTHON": sys.executable})  # fmt: skip
        return read_picture_or_reason(target, done.stdout, done.stderr, done.returncode)


def read_picture_or_reason(target, output, errors, status):
    """The picture that `lab32 explain` wrote, or else the reason that it gave."""
    if target.is_file():
        return ExplainedPicture(target.read_text(), output.strip())
    said = (errors or output).strip().splitlines() or [f"lab32 explain ended with status {status}"]
    return MissingPicture(said[-1].removeprefix("lab32: "))


def picture_of_worst_access(lab, check=None, more=()):
    """A picture of the worst access of a check of the student's submission, or of the whole lab if no check is
    given."""
    check = [check] if check else []
    return explain_picture_or_reason([lab, *check, "--dir", str(student_labs_root(lab)), *more])


MOST_TRIES = 3  # few, because each one runs the lab's kernels


def picture_of_check_costing_most(lab):
    """The picture of the check that lost the most points for its memory accesses, with its message. A picture
    that would answer an open question is withheld, and the next check is tried."""
    wasteful = [t for t in lab.tests if t.failure and t.failure["kind"] == "wasteful"]
    wasteful.sort(key=lambda test: test.score - test.max_score)
    shown = None
    for test in wasteful[:MOST_TRIES]:
        # The seed repeats the random inputs, so that the picture shows the launch that the message describes.
        picture = picture_of_worst_access(lab.name, test.name, ["--seed", str(lab.seed)])
        if isinstance(picture, ExplainedPicture):
            picture.words = f"{test.name}\n{test.message}"
            return picture
        shown = shown or picture
    return shown or MissingPicture("no check of this result lost points by its accesses")
