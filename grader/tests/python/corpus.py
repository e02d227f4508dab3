"""Assembles submissions for tests from grader/labs/*/submissions, and makes half-done ones."""

from authoring.splice import replace_definitions, split_cpp_top_level_definitions
from lab32 import ROOT


def submission(kind, lab, name):
    """The whole submission that the file grader/labs/LAB/submissions/KIND/NAME.cu stands for."""
    changes = (ROOT / f"grader/labs/{lab}/submissions/{kind}/{name}.cu").read_text()
    return replace_definitions(
        (ROOT / f"solutions/{lab}/{lab}.cu").read_text(), changes.replace("@ROOT@", str(ROOT))
    )


def half_done(lab):
    """The solution with every second function and answer from the skeleton, and the helpers of both."""
    solution = (ROOT / f"solutions/{lab}/{lab}.cu").read_text()
    solved = [name for name, _ in split_cpp_top_level_definitions(solution)]
    given = [
        (name, text) for name, text in split_cpp_top_level_definitions((ROOT / f"labs/{lab}/{lab}.cu").read_text())
        if name and solved.count(name) <= 1 and not name.startswith("LAB32_LAUNCH") and not name.endswith(">")
    ]  # fmt: skip
    helpers = [text for name, text in given if name not in solved]
    both = [text for name, text in given if name in solved]
    return replace_definitions(solution, "".join(helpers + both[::2]))


def empty(lab):
    """Only the line that every file begins with."""
    return '#include "lab32.cuh"\n'


def written(folder, lab, text):
    """Writes this lab's file into `folder`, as the only lab there."""
    (folder / lab).mkdir(parents=True, exist_ok=True)
    (folder / lab / f"{lab}.cu").write_text(text)
    return folder
