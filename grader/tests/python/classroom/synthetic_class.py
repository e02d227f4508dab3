"""Makes a class from grader/labs/*/submissions, exported like a platform does, for tests and by hand:

.venv/bin/python grader/tests/python/classroom/synthetic_class.py FOLDER [--students 200] [--layout canvas]
"""

import argparse
import random
import re
import zipfile
from pathlib import Path

from lab32 import ROOT

LABS = sorted(path.parent.name for path in ROOT.glob("solutions/*/*.cu"))
FAMILY = ["Doe", "Müller", "O'Neill", "Σωκράτης", "王", "Nguyễn Thị", "de la Cruz", "Иванова"]
GIVEN = ["Jane", "Jörg", "Aoife", "Άννα", "小明", "Minh", "José", "Ольга"]


def chunks(source):
    """[[name, text]] of the top-level definitions, by the rules of tests/fixtures/splice.cpp."""
    out, depth, inside = [], 0, False
    for line in source.splitlines(keepends=True):
        between = not inside and (not line.strip() or line.startswith(("#", "//")))
        if not inside:
            out.append(["", ""])
        out[-1][1] += line
        if between:
            continue
        inside = True
        code = line.rstrip("\n").split("//")[0]
        depth += code.count("{") - code.count("}")
        if depth <= 0 and code.rstrip(" ").endswith(("}", ";")):
            inside, text = False, out[-1][1]
            if text.startswith("LAB32_"):
                out[-1][0] = text.split(",")[0]
            else:
                head = re.sub(r"__launch_bounds__\([^)]*\)", "", text).split("(")
                out[-1][0] = re.split(r"[ *&]", head[0])[-1] if len(head) > 1 else ""
    return out


def replace_definitions(base, changes):
    """The whole submission that a file of the corpus stands for."""
    base, fresh, first = chunks(base), "", None
    for name, text in chunks(changes):
        same = [i for i, chunk in enumerate(base) if name and chunk[0] == name]
        if not same:
            fresh += text
            continue
        base[same[0]][1] = text
        first = same[0] if first is None else min(first, same[0])
    if first is None:
        return changes
    return "".join((fresh if i == first else "") + text for i, (_, text) in enumerate(base))


def corpus(lab):
    """[(name, text)] of all submissions for a lab, the skeleton and the solution first."""
    solution = (ROOT / f"solutions/{lab}/{lab}.cu").read_text()
    out = [("skeleton", (ROOT / f"labs/{lab}/{lab}.cu").read_text()), ("solution", solution)]
    for path in sorted((ROOT / "grader/labs" / lab / "submissions").glob("*/*.cu")):
        changes = path.read_text().replace("@ROOT@", str(ROOT))
        out.append((f"{path.parts[-2]}/{path.stem}", replace_definitions(solution, changes)))
    return out


def place(layout, number, name, lab):
    """The path that a platform gives a student's file."""
    squashed = "".join(re.findall(r"\w+", name)).lower()
    return {
        "folders": f"{name} {number}/{lab}/{lab}.cu",
        "flat": f"{name.replace(' ', '-')}{number}_{lab}.cu",
        "canvas": f"{squashed}_{1000 + number}_{70000 + number}_{lab}.cu",
        "moodle": f"{name}_{1000 + number}_assignsubmission_file_/{lab}.cu",
        "gradescope": f"assignment_9_export/submission_{70000 + number}/{lab}.cu",
        "zips": f"{name} {number}.zip",
    }[layout]


def make(folder, texts, layout="folders"):
    """Writes a class in which student `number` hands in texts[number] = {lab: text}; returns the names."""
    folder, people = Path(folder), []
    for number, files in enumerate(texts):
        name = f"{GIVEN[number % len(GIVEN)]} {FAMILY[number // len(GIVEN) % len(FAMILY)]}"
        people.append(name)
        for lab, text in files.items():
            path = folder / place(layout, number, name, lab)
            path.parent.mkdir(parents=True, exist_ok=True)
            if layout == "zips":
                with zipfile.ZipFile(path, "a") as archive:
                    archive.writestr(f"{lab}/{lab}.cu", text)
            else:
                path.write_text(text)
    if layout == "gradescope":
        lines = ["---\n"]
        for number, name in enumerate(people):
            lines.append(
                f"submission_{70000 + number}:\n  :submitters:\n  - :name: {name}\n    :sid: '{1000 + number}'\n"
                f"    :email: s{number}@example.edu\n  :created_at: 2026-11-20 12:00:00.000000000 Z\n"
            )
        (folder / "assignment_9_export/submission_metadata.yml").write_text("".join(lines))
    return people


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--layout", default="folders")
    parser.add_argument("--labs", default="shuffle,coalescing")
    parser.add_argument("--seed", type=int, default=1, help="seed for drawing submissions (1)")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    every = {lab: corpus(lab) for lab in options.labs.split(",")}
    texts = [{lab: draw.choice(every[lab])[1] for lab in every} for _ in range(options.students)]
    make(options.folder, texts, options.layout)


if __name__ == "__main__":
    main()
