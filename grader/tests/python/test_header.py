"""labs/include/lab32.cuh passes values to the grader as data; these tests read them in nvcc's output."""

import re
import subprocess

import pytest

from lab32 import ROOT

SOURCE = """
#include "lab32.cuh"
LAB32_LAUNCH(reduce_v8, .block = 256, .items_per_thread = 16, .blocks_per_sm = 4);
LAB32_LAUNCH(partly, .block = 64, .dynamic_shared = 1024);
LAB32_TILE(transpose_best, .rows = 32, .columns = 128, .threads = 256);
LAB32_ANSWER(half, 0.5);
LAB32_ANSWER(open_question, -1);
"""


@pytest.fixture(scope="module")
def nvcc():
    """The nvcc that `make` found or installed."""
    lines = (ROOT / "build/toolchain.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)["NVCC"]


def compile(nvcc, folder, *options):
    source = folder / "records.cu"
    source.write_text(SOURCE)
    command = [nvcc, "-std=c++17", "-arch=sm_90", "-I", str(ROOT / "labs/include"), *options]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_records_are_in_the_ptx(nvcc, tmp_path):
    compile(nvcc, tmp_path, "-ptx", "-o", str(tmp_path / "records.ptx"))
    ptx = (tmp_path / "records.ptx").read_text()
    found = dict(re.findall(r"lab32_launch_(\w+)\[16\] = \{(.*?)\}", ptx))
    fields = {}
    for name, text in found.items():
        # PTX leaves out the zeros at the end of an initialiser.
        data = bytes(int(byte) for byte in text.split(",")).ljust(16, b"\0")
        fields[name] = [int.from_bytes(data[k : k + 4], "little") for k in range(0, 16, 4)]
    assert fields == {"reduce_v8": [256, 16, 4, 0], "partly": [64, 0, 0, 1024]}
    (tile,) = re.findall(r"lab32_tile_transpose_best\[12\] = \{(.*?)\}", ptx)
    data = bytes(int(byte) for byte in tile.split(",")).ljust(12, b"\0")
    assert [int.from_bytes(data[k : k + 4], "little") for k in range(0, 12, 4)] == [32, 128, 256]
    assert "lab32_answer_half = 0f3F000000" in ptx
    assert "lab32_answer_open_question = 0fBF800000" in ptx


@pytest.mark.slow
def test_a_submission_can_be_part_of_a_whole_program(nvcc, tmp_path):
    """The host code defines the records, too; otherwise no main() could be added to the file."""
    compile(nvcc, tmp_path, "-c", "-o", str(tmp_path / "records.o"))
    symbols = subprocess.run(
        ["nm", str(tmp_path / "records.o")], capture_output=True, text=True, check=True
    ).stdout
    assert not re.findall(r" U lab32_\w+", symbols)
    assert len(re.findall(r"lab32_(?:launch|answer)_\w+", symbols)) >= 4


def kernels(path):
    """Every __global__ signature in order, with single blanks."""
    bounds = r"(?:__launch_bounds__\([^)]*\)\s*)?"  # a solution may add launch bounds
    found = re.findall(r"__global__ void " + bounds + r"(\w+\([^)]*\))", path.read_text())
    return [" ".join(signature.split()) for signature in found]


@pytest.mark.parametrize("lab", sorted(p.parent.name for p in ROOT.glob("labs/*/*.cu")))
def test_the_solution_mirrors_the_skeleton(lab):
    skeleton, solution = (ROOT / top / lab / f"{lab}.cu" for top in ("labs", "solutions"))
    assert kernels(skeleton) == kernels(solution)
