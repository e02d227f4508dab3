"""A lab is a folder: when a lab is copied under another name, with its files in five places, every part of the
project that lists labs includes it. No file outside these places changes."""

import json
import os
import re
import shutil
import subprocess

import pytest

from lab32 import ROOT, labs

pytestmark = pytest.mark.slow

# The name has the same length, so that golden texts of the copy wrap alike.
COPIED, NEW = "coalescing", "assembling"
PLACES = ["labs/{}", "solutions/{}", "grader/labs/{}", "data/limits/{}.toml", "handouts/{}.md",
          "handouts/{}-notes.md", "handouts/zh/{}.md"]  # fmt: skip


class Checkout:
    def __init__(self, path):
        self.path = path
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("LAB32_", "MAKE"))}
        self.environment["XDG_CACHE_HOME"] = str(path / "cache")

    def run(self, *words, status=0):
        done = subprocess.run([str(w) for w in words], cwd=self.path, env=self.environment,
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == status, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    def python(self, *words, status=0):
        return self.run(".venv/bin/python", *words, status=status)


def copy_checkout(to):
    """Copies the files in git and the build, so that only the new lab is compiled."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in map(os.fsdecode, names.split(b"\0")):
        if name and (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name, follow_symlinks=False)
    for name in ("obj", "unity", "flags", "objects", "version", "toolchain.env"):
        source, target = ROOT / "build" / name, to / "build" / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)
    (to / ".venv").symlink_to(ROOT / ".venv")


def add_lab(root):
    for place in PLACES:
        source, target = root / place.format(COPIED), root / place.format(NEW)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy2(source, target)
        for path in target.rglob("*") if target.is_dir() else [target]:
            if path.is_file():
                path.write_text(path.read_text().replace(COPIED, NEW))
    for path in sorted(root.glob(f"*/{NEW}/{COPIED}.cu")):
        path.rename(path.with_stem(NEW))
    rubric = root / f"data/limits/{NEW}.toml"
    text = re.sub(r"(?m)^order = .*", "order = 99", rubric.read_text())
    rubric.write_text(re.sub(r"(?m)^level = .*", 'level = "extra"', text))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    root = tmp_path_factory.mktemp("new") / "checkout"
    root.mkdir()
    copy_checkout(root)
    add_lab(root)
    new = Checkout(root)
    new.run("make", "build", "build/lab32_tests")
    return new


def test_a_new_lab_is_graded_with_the_others(checkout, tmp_path):
    """Grades a folder that has only this lab's file, so that no other lab takes time."""
    shutil.copytree(checkout.path / "labs" / NEW, tmp_path / NEW)
    words = ["--dir", tmp_path, "--device", "sim", "--seed", 1, "--format", "json"]
    result = json.loads(checkout.run("build/lab32", "grade", *words, status=1))
    assert sorted(lab["lab"] for lab in result["labs"]) == sorted([*labs.lab_names(), NEW])
    (skeleton,) = (lab for lab in result["labs"] if lab["lab"] == NEW)
    assert 0 < skeleton["score"] < skeleton["max_score"]
    words[1] = "solutions"
    assert f"{NEW} " in checkout.run("build/lab32", "grade", NEW, *words[:-2])


def test_a_new_lab_has_a_report_page(checkout, tmp_path):
    page = tmp_path / "report.html"
    words = ["--dir", "labs", "--device", "sim", "--seed", 1, "-o", page]
    checkout.run("build/lab32", "report", NEW, *words, status=1)
    assert f'<section id="lab-{NEW}"' in page.read_text()


def test_a_class_can_be_graded_in_a_new_lab(checkout, tmp_path):
    (tmp_path / "in/ann").mkdir(parents=True)
    shutil.copy(checkout.path / f"solutions/{NEW}/{NEW}.cu", tmp_path / "in/ann")
    checkout.run("build/lab32", "class", tmp_path / "in", "-o", tmp_path / "out", "--jobs", 1)
    (row,) = (line for line in (tmp_path / "out/scores.csv").read_text().splitlines() if "ann" in line)
    assert "100" in row


def test_the_tests_of_all_labs_include_a_new_lab(checkout):
    listed = checkout.run("build/lab32_tests", "--list-test-cases", "--no-skip")
    names = {lab: set(re.findall(rf"^(.*): {lab}$", listed, re.M)) for lab in (COPIED, NEW)}
    assert names[NEW] == names[COPIED] and len(names[NEW]) >= 6
    cases = [f"grading: golden: the {what}: {NEW}" for what in ("untouched skeleton", "solution")]
    cases.append("grading: these tests include every lab")
    checkout.run("build/lab32_tests", "--no-skip", "-tc=" + ",".join(cases))


def test_tables_and_figures_of_the_handouts_include_a_new_lab(checkout):
    assert "README.md" in checkout.python("-m", "handouts.handout", "README.md")
    table = (checkout.path / "README.md").read_text().split("<!-- table: labs -->")[1]
    assert f"[{NEW}](handouts/{NEW}.md)" in table.split("<!-- end -->")[0].splitlines()[-1]
    said = "from handouts import figures, handout; from lab32 import labs; "
    said += "print(*labs.modules_by_lab('figures'), *labs.modules_by_lab('notebook'))"
    assert checkout.python("-c", said).split().count(NEW) == 2


def test_the_students_pack_includes_a_new_lab(checkout, tmp_path):
    checkout.python("grader/setup/dist/students.py", tmp_path, checkout.path / "build/lab32")
    for name in (f"labs/{NEW}/{NEW}.cu", f"labs/{NEW}/report.ipynb", f"handouts/{NEW}.md"):
        assert (tmp_path / name).exists(), name
    sealed = (tmp_path / f"data/limits/{NEW}.toml").read_text()
    assert 'level = "extra"' in sealed and "reason" not in sealed
