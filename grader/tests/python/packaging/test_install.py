"""The files of `make install`: they grade from an empty directory, also after the folder was moved, and contain
nothing internal to the course."""

import os
import re
import site
import subprocess
import sys

import pytest

from authoring import new_lab
from lab32 import ROOT, labs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    first, moved = folder / "first", folder / "moved to Zoë's (new)"
    subprocess.run([ROOT / "grader/setup/install", first, ROOT / "build"], check=True)
    first.rename(moved)
    return moved


@pytest.fixture
def lab32(tree, tmp_path):
    """Runs it like a student, in a directory and with a home of their own."""
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("LAB32_", "XDG_"))}
    tools = dict(
        line.split("=", 1) for line in (ROOT / "build/toolchain.env").read_text().splitlines()
    )
    keep |= {"HOME": str(tmp_path / "home"), "LAB32_NVCC": tools["NVCC"]}
    keep |= {"LAB32_NVDISASM": tools["NVDISASM"]}

    def run(*words, **more):
        return subprocess.run(
            [tree / "build/lab32", *words], cwd=tmp_path / "work", env=keep | more,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    run.home, run.work = tmp_path / "home", tmp_path / "work"
    return run


def test_an_installation_grades_labs_that_live_elsewhere(lab32):
    new_lab.write_lab_from_template("stripes", lab32.work / "mine")
    for words, status in ((["--dir", "mine/solutions"], 0), ([], 1)):
        outcome = lab32("grade", "--labs", "mine", *words)
        assert (outcome.returncode, "stripes" in outcome.stdout) == (status, True), outcome.stderr


def test_a_student_starts_in_an_empty_directory(lab32):
    outcome = lab32("init")
    assert outcome.returncode == 0
    assert re.match(r"\.: \d+ files written, in labs/ and handouts/\n", outcome.stdout)
    assert (lab32.work / "labs/reduction/reduction.cu").is_file()
    assert (lab32.work / "handouts/reduction.md").is_file()
    outcome = lab32("grade", "swizzle", "--seed", "1")
    assert outcome.returncode == 1
    golden = (ROOT / "grader/labs/swizzle/golden/skeleton.txt").read_text()
    assert golden.split("/ 100")[0].split() == outcome.stdout.split("/ 100")[0].split()
    assert list((lab32.home / ".cache/lab32/artifacts").iterdir())


def test_init_overwrites_no_file(lab32):
    mine = lab32.work / "there" / "labs/shuffle/shuffle.cu"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    outcome = lab32("init", "there")
    assert "\nLeft as it was: labs/shuffle/shuffle.cu. " in outcome.stdout
    assert mine.read_text() == "mine"
    (lab32.work / "file").write_text("")
    outcome = lab32("init", "file")
    assert outcome.returncode == 2
    assert outcome.stderr.startswith("lab32: file")
    assert outcome.stderr.count("\n") == 1


def test_whole_programs_run(lab32):
    (lab32.work / "hello.cu").write_text(
        '#include <cstdio>\n#include <cuda.h>\n__global__ void k() { printf("lane %d\\n", threadIdx.x); }\n'
        "int main() { k<<<1, 2>>>(); return cuCtxSynchronize(); }\n"
    )
    outcome = lab32("run", "hello.cu", "-lcuda")
    assert (outcome.returncode, outcome.stdout) == (0, "lane 0\nlane 1\n")


def test_the_helpers_of_every_notebook_are_found(tree):
    program = "from lab32 import ROOT, labs; print(ROOT, *labs.modules_by_lab('notebook'))"
    outcome = subprocess.run(
        [sys.executable, "-S", "-B", "-c", program], capture_output=True, text=True, check=False,
        env={"PYTHONPATH": f"{tree}/grader/python:{':'.join(site.getsitepackages())}"},
    )  # fmt: skip
    assert outcome.stdout.strip() == f"{tree} {' '.join(labs.modules_by_lab('notebook'))}", outcome.stderr


def test_it_prints_its_version_without_a_path(lab32, tree):
    makefile = (ROOT / "Makefile").read_text()
    version = re.search(r"^VERSION := (.*)$", makefile, re.MULTILINE)[1]
    assert lab32("--version").stdout == f"lab32 {version}\n"
    for file in ("build/lab32", "build/runtime/libcudart.so.13", "build/runtime/libcuda.so.1",
                 "build/runtime/libcublas.so.13"):  # fmt: skip
        assert str(ROOT).encode() not in (tree / file).read_bytes()


def test_a_program_without_its_files_reports_that(lab32, tree, tmp_path):
    alone = tmp_path / "lab32"
    alone.write_bytes((tree / "build/lab32").read_bytes())
    alone.chmod(0o755)
    outcome = subprocess.run(
        [alone, "doctor"], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert outcome.returncode == 2
    assert "no directory above it contains data/limits and" in outcome.stdout
    assert lab32("grade", "shuffle", LAB32_ROOT="/nowhere").returncode == 2


def test_no_solutions_tests_or_sources_are_installed(tree):
    names = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}
    assert not [name for name in names if "solutions/" in name and not name.startswith("data/")]
    given = ("labs/", "build/runtime/include/")  # headers that students compile with
    assert not [name for name in names
                if name.endswith((".cpp", ".h")) and not any(part in name for part in given)]  # fmt: skip
    assert not [name for name in names if "/tests/" in name or "submissions" in name]
    assert {"LICENSE", "data/limits/reduction.toml", "labs/README.md", "grader/gpu/baselines.cu"} <= names
    # A lab's folder has its given kernels and its notebook's helpers, but not the code for handouts.
    of_labs = {name for name in names if name.startswith("grader/labs/")}
    assert {name.split("/")[-1] for name in of_labs} == {"given.cu", "notebook.py", "pictures.py"}
    assert not [name for name in names if "handouts" in name and name.startswith("grader/")]


def test_another_folder_is_not_replaced(tmp_path):
    (tmp_path / "precious").write_text("")
    outcome = subprocess.run(
        [ROOT / "grader/setup/install", tmp_path, ROOT / "build"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert outcome.returncode == 2
    assert "is there and is no lab32" in outcome.stderr
    assert (tmp_path / "precious").exists()
