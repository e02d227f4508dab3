"""What of labs, handouts and data students get: no solutions, no answers, no reasons.

usage: students.py TREE LAB32

Writes TREE/labs, TREE/handouts and TREE/data; LAB32 is the built program, which seals the answers.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import tomlkit

ROOT = Path(__file__).resolve().parents[3]

sys.path.insert(0, str(ROOT / "grader/python"))
from lab32 import labs  # noqa: E402


class AllBut(set):
    def __contains__(self, value):
        return not super().__contains__(value)


def records():
    """{files below data/: {column: the values of the rows that students get}}: what the grader and the
    notebooks read. What concerns one lab stands in its grader/labs/<lab>/notebook.py."""
    withheld = set().union(*(labs.notebook_attribute(lab, "WITHHELD_KERNELS", set()) for lab in labs.names()))
    found = {
        "devices/*.toml": {},
        "documented/*.csv": {},
        "modelled/*.csv": {},
        "simulated/solutions.csv": {"kernel": AllBut(withheld)},
        "simulated/solutions-checks.csv": {},
        "measured/h200-labs.csv": {},
    }
    for lab in labs.names():
        found |= labs.notebook_attribute(lab, "STUDENTS_RECORDS", {})
        times = f"measured/h200-{lab}.csv"
        if lab in labs.names("core") or (ROOT / "data" / times).exists():
            found[times] = {}
    return found


# A link to what is not there: its words remain.
LINK = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(?:data|grader|solutions)\b[^)]*\)")


def sealed_rubric(lab, program):
    """The text of data/limits/LAB.toml, its answers hashed, without reasons and comments."""
    lines = subprocess.run(
        [program, "seal", lab], env=os.environ | {"LAB32_ROOT": str(ROOT)},
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    hashes = {(table, question): sealed for table, question, sealed in map(str.split, lines)}
    limits = tomllib.loads((ROOT / f"data/limits/{lab}.toml").read_text())
    for name, table in limits.items():
        if not isinstance(table, dict):
            continue
        table.pop("reason", None)
        for question, value in table.get("questions", {}).items():
            value["answer"] = hashes.pop((name, question))
    if hashes:
        raise ValueError(f"{lab}: {', '.join(map('.'.join, hashes))} not found in the rubric")
    return tomlkit.dumps(limits)


def rows_of(text, wanted):
    """The rows with one of the wanted values, of a CSV with `# key: value` lines above it."""
    if not wanted:
        return text
    lines = text.splitlines(keepends=True)
    head = sum(line.startswith("#") for line in lines)
    reader = csv.DictReader(lines[head:])
    chosen = [
        line for line, row in zip(lines[head + 1 :], reader, strict=True)
        if all(row[column] in values for column, values in wanted.items())
    ]  # fmt: skip
    return "".join(lines[: head + 1] + chosen)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def copy_texts(tree):
    """labs/ and handouts/ without the instructors' page; hidden files are editors'."""
    left_out = shutil.ignore_patterns(".*", "__*__", "instructors.md")
    for top in ("labs", "handouts"):
        shutil.copytree(ROOT / top, tree / top, ignore=left_out)
        for page in (tree / top).rglob("*.md"):
            page.write_text(LINK.sub(r"\1", page.read_text()))


def copy_records(tree):
    data = ROOT / "data"
    for pattern, wanted in records().items():
        found = sorted(data.glob(pattern))
        if not found:
            raise FileNotFoundError(f"data/{pattern}")
        for path in found:
            write(tree / "data" / path.relative_to(data), rows_of(path.read_text(), wanted))


def main():
    tree, program = Path(sys.argv[1]), sys.argv[2]
    copy_texts(tree)
    copy_records(tree)
    for lab in labs.names():
        write(tree / f"data/limits/{lab}.toml", sealed_rubric(lab, program))


if __name__ == "__main__":
    main()
