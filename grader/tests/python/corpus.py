"""Assembles submissions for tests from grader/labs/*/submissions, and makes half-done ones."""

import re

from lab32 import ROOT


def chunks(source):
    """[(name, text)] of the definitions at the top level; text between two has the name "". The rules are those of
    tests/fixtures/splice.cpp."""
    found, depth, inside = [], 0, False
    for line in source.splitlines(keepends=True):
        between = not inside and (not line.strip() or line.startswith(("#", "//")))
        if not inside:
            found.append(["", ""])
        found[-1][1] += line
        if between:
            continue
        inside = True
        code = line.split("//")[0].rstrip()
        depth += code.count("{") - code.count("}")
        if depth <= 0 and code.endswith(("}", ";")):
            inside = False
            found[-1][0] = name_of(found[-1][1])
    return found


def name_of(text):
    if text.startswith("LAB32_"):
        return text.split(",")[0]
    bounds = re.search(r"__(launch_bounds|maxnreg)__\([^)]*\)", text)
    head = text[bounds.end() if bounds else 0 :].split("(")[0]
    return re.split(r"[ *&\n]", head)[-1]


def spliced(base, changes):
    """`base` with chunks replaced by those of `changes` with the same names; new chunks come first."""
    parts, fresh, first = chunks(base), "", None
    for name, text in chunks(changes):
        same = next((k for k, part in enumerate(parts) if name and part[0] == name), None)
        if same is None:
            fresh += text
        else:
            parts[same][1] = text
            first = same if first is None else min(first, same)
    texts = [text for _, text in parts]
    texts.insert(len(texts) if first is None else first, fresh)
    return "".join(texts)


def submission(kind, lab, name):
    """The whole submission that the file grader/labs/LAB/submissions/KIND/NAME.cu stands for."""
    changes = (ROOT / f"grader/labs/{lab}/submissions/{kind}/{name}.cu").read_text()
    return spliced(
        (ROOT / f"solutions/{lab}/{lab}.cu").read_text(), changes.replace("@ROOT@", str(ROOT))
    )


def half_done(lab):
    """The solution with every second function and answer from the skeleton, and the helpers of both."""
    solution = (ROOT / f"solutions/{lab}/{lab}.cu").read_text()
    solved = [name for name, _ in chunks(solution)]
    given = [
        (name, text) for name, text in chunks((ROOT / f"labs/{lab}/{lab}.cu").read_text())
        if name and solved.count(name) <= 1 and not name.startswith("LAB32_LAUNCH") and not name.endswith(">")
    ]  # fmt: skip
    helpers = [text for name, text in given if name not in solved]
    both = [text for name, text in given if name in solved]
    return spliced(solution, "".join(helpers + both[::2]))


def empty(lab):
    """Only the line that every file begins with."""
    return '#include "lab32.cuh"\n'


def written(folder, lab, text):
    """Writes this lab's file into `folder`, as the only lab there."""
    (folder / lab).mkdir(parents=True, exist_ok=True)
    (folder / lab / f"{lab}.cu").write_text(text)
    return folder
