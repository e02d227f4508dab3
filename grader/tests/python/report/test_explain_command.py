"""`lab32 explain` and `lab32 grade --watch`, from the command line to the output."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree

import corpus
import matplotlib.image
import pytest
from slow_parameters import slow_unless

from lab32 import ROOT

TURN = """__global__ void turn(const float* in, float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
int main() {
  float *a, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  cudaMemset(a, 0, 4096);
  turn<<<1, dim3(32, 32)>>>(a, b);
  return cudaDeviceSynchronize();
}
"""


WRONG = """__global__ void sum(const float* in, float* out) {
  __shared__ float s[64];
  s[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 32) out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 32];
}
__global__ void rotate(float* x) {
  float v = x[threadIdx.x];
  if (threadIdx.x < 8) v = __shfl_sync(0xff, v, 9);
  x[threadIdx.x] = v;
}
__global__ void past(float* out) {
  out[threadIdx.x] = 1;
}
int main() {
  float *a, *b;
  cudaMalloc(&a, 256);
  cudaMalloc(&b, 256);
  cudaMemset(a, 0, 256);
  sum<<<1, 64>>>(a, b);
  rotate<<<1, 32>>>(a);
  past<<<1, 96>>>(b);
  return cudaDeviceSynchronize() == cudaSuccess;
}
"""


def lab32(*words, cwd=ROOT):
    environment = os.environ | {"LAB32_PYTHON": sys.executable}
    done = subprocess.run(
        [ROOT / "build/lab32", *words], cwd=cwd, env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "turn.cu").write_text(TURN)
    return folder


@pytest.mark.parametrize(
    ("check", "begins"), slow_unless([("B1 row_scan: wave", True), ("", False)], lambda part: part[1])
)
def test_a_check_of_the_students_own_kernel_is_drawn(check, begins):
    status, text, _ = lab32("explain", "bank_conflicts", *([check] if check else []))
    assert status == 0
    if begins:
        assert text.startswith(
            "bank_conflicts, B1 row_scan: wavefronts: labs/bank_conflicts/bank_conflicts.cu\n"
        )
        assert "540,672 wavefronts where 32,768 would do" in text
        # Below the drawing is the reference solution's traffic for the same n.
        assert "the reference  │ 16,384 requests, 65,536 sectors" in text
    # The worst access shows lanes, words and the cost.
    assert (
        re.search(r"\d+ wavefronts? where 1 would do", text) and "0 1 2 3 4 5 6 7 8 9 a b" in text
    )
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.slow
def test_a_line_of_a_program_is_drawn_with_the_names_of_its_elements(program):
    status, text, _ = lab32("explain", "turn.cu", "--line", "5", cwd=program)
    assert status == 0
    assert "32 wavefronts where 1 would do" in text
    # Accesses to a column of the tile are named by row and column, not by bytes.
    assert "\ntile[0][31] " in text and "\ntile[1][31] " in text and "tile+" not in text


@pytest.mark.slow
def test_warp_and_request_choose_another_access(program):
    shown = json.loads(
        lab32("explain", "turn.cu", "--line", "3", "--warp", "7", "--format", "json", cwd=program)[
            1
        ]
    )
    (access,) = shown["launch"]["accesses"][:1]
    assert {request["warp"] for request in access["requests"]} == {7}
    assert access["requests"][0]["name"][:2] == ["in[224]", "in[225]"]


@pytest.mark.slow
def test_errors_of_a_program_are_drawn(program):
    """A race, an absent lane and a faulty access are drawn, each for the line that is given."""
    (program / "wrong.cu").write_text(WRONG)
    told = {}
    for line in (4, 8, 12):
        status, told[line], _ = lab32("explain", "wrong.cu", "--line", str(line), cwd=program)
        assert status == 0
    assert "reads s[32]" in told[4] and "no order: __syncthreads() is missing" in told[4]
    assert re.search(r"line 8: .*\n  reads +x x x x x x x x ○", told[8])
    assert "bytes 0 to 255; ▲ the access, at byte 256" in told[12]


@pytest.mark.slow
def test_check_names_the_command_that_draws_its_findings(program):
    shutil.copy(program / "wrong.cu", program / "it's wrong.cu")
    status, text, _ = lab32("check", "it's wrong.cu", "--", "an argument", cwd=program)
    assert status == 1
    *_, command, last = text.splitlines()
    assert last.startswith("lab32 check: 3 hazards")
    words = shlex.split(command.removeprefix("draw it with: "))
    assert words[:3] == ["lab32", "explain", "it's wrong.cu"] and words[-1] == "an argument"
    status, text, _ = lab32(*words[1:], cwd=program)
    assert status == 0 and "no order: __syncthreads() is missing" in text


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_pictures_are_written(program, kind):
    file = program / f"turn.{kind}"
    status, text, errors = lab32(
        "explain", "turn.cu", "--line", "5", "--format", kind, "-o", file, cwd=program
    )
    assert (status, text, errors) == (0, "", "")
    if kind == "svg":
        words = "".join(ElementTree.parse(file).getroot().itertext())
        assert "32 wavefronts where 1 would do" in words and "lane 1 tile[1][31]" in words
    elif kind == "png":
        image = matplotlib.image.imread(file)
        assert image.shape[1] > 600 and (image[..., :3] < 0.5).any()
    else:
        page = file.read_text()
        assert (
            "tile[1][31]" in page
            and 'type="range"' in page
            and "Lanes at work between barriers" in page
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["explain", "turn.cu", "--line", "4"],
            "lab32: turn.cu:4: no launch accesses memory or shuffles on that line",
        ),
        (
            ["explain", "turn.cu", "--line", "3", "--format", "png"],
            "lab32: a PNG cannot be printed: name a file with -o",
        ),
        (["explain", "nowhere.cu", "--line", "3"], "nowhere.cu"),
        (["explain"], "lab32: name a lab, a program, or --swizzle B,M,S"),
        (["explain", "--swizzle", "2,0,3"], "lab32: a task of the lab swizzle asks for that table"),
    ],
)
def test_an_impossible_drawing_is_reported_in_one_line(program, words, line):
    status, text, errors = lab32(*words, cwd=program)
    assert (status, text) == (2, "")
    assert line in errors and errors.count("\n") == 1


def test_the_access_of_the_message_is_drawn_with_the_message(tmp_path):
    file = tmp_path / "spectrum.svg"
    status, text, _ = lab32(
        "explain", "bank_conflicts", "B5 spectrum: wave", "--format", "svg", "-o", file
    )
    assert status == 0
    assert (
        text.startswith("bank_conflicts, B5 spectrum: wavefronts: ")
        and "take 32 wavefronts where 1 would do" in " ".join(text.split())
    )
    # The atomics to shared memory are drawn, although the same line also loads global memory.
    words = "".join(ElementTree.parse(file).getroot().itertext())
    assert "32 wavefronts where 1 would do" in words and "sectors" not in words


LAMBDA = """template <class F>
__global__ void each(F f) { f(threadIdx.x); }
int main() {
  float* a;
  cudaMalloc(&a, 4096);
  cudaMemset(a, 0, 4096);
  each<<<1, 32>>>([=] __device__(int t) { a[t * STRIDE] += 1; });
  return cudaDeviceSynchronize();
}
"""


@pytest.mark.slow
def test_a_program_takes_nvccs_options(program):
    (program / "lambda.cu").write_text(LAMBDA)
    words = ["explain", "lambda.cu", "--extended-lambda", "-D", "STRIDE=8", "--line", "7"]
    status, text, _ = lab32(*words, cwd=program)
    assert status == 0 and "32 sectors where 4 would do" in text


@pytest.mark.slow
def test_the_occupancy_lab_draws_its_own_subject(tmp_path):
    """What resides and the waves come first, also for a check without a launch that has a picture."""
    status, text, _ = lab32("explain", "occupancy", "B1")
    assert status == 0 and all(len(line) <= 80 for line in text.splitlines())
    assert re.search(r"\nBlocks on a multiprocessor: \d+ blocks? fits?; .* binds?\n", text)
    assert re.search(r"\n {8}threads │ █+ +", text) and "follow" in text
    file = tmp_path / "b5.svg"
    assert lab32("explain", "occupancy", "B5", "--format", "svg", "-o", file)[0] == 0
    assert "Blocks on a multiprocessor: " in file.read_text()
    status, _, errors = lab32("explain", "occupancy", "A1")
    assert (status, errors.count("no picture of occupancy, A1")) == (2, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "unit"), [("B2 padded: sectors", "sector"), ("B2 padded: wavefronts", "wavefront")]
)
def test_the_picture_of_a_solved_check_is_of_its_counter(check, unit):
    status, text, _ = lab32("explain", "transpose", check, "--dir", "solutions")
    assert status == 0 and re.search(rf"\d+ {unit}s?, the minimum", text)


@pytest.mark.slow
def test_a_withheld_picture_is_explained_in_one_line():
    status, _, errors = lab32("explain", "transpose", "B1 tiled: sectors")
    assert status == 2
    assert (
        "it would answer a question of `A1 what naive touches`; answer that first"
        in errors
    )


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["coalescing", "A1"], "A1 requests: your kernels have no access to draw (27"),
        pytest.param(["coalescing", "B1 scale: sectors", "--warp", "99"],
                     "B1 scale: sectors: your kernels have no access at warp 99", marks=pytest.mark.slow),
        pytest.param(["coalescing", "--line", "9999"], "no picture of coalescing: your kernels have no access at line 9999",
                     marks=pytest.mark.slow),
        (["coalescing", "--swizzle", "3,0,3"], "--swizzle stands alone, or with the lab swizzle, not with coalescing"),
        pytest.param(["transpose"], "no picture of transpose: it would answer a question of `A", marks=pytest.mark.slow),
        (["nolab"], "there is no lab `nolab`; the labs are: "),
        (["bank_conflicts", "B1 row_scan: wave", "--picture", "race"], "no picture of race here; there are: access, "),
    ],
)  # fmt: skip
def test_a_missing_picture_of_a_lab_is_explained(words, line):
    """The reason is more than a line of the source."""
    status, text, errors = lab32("explain", *words)
    assert (status, text) == (2, "")
    assert line in errors.splitlines()[-1]


@pytest.mark.parametrize(
    ("lab", "check"),
    [("coalescing", "A1"), ("coalescing", "A3"), ("bank_conflicts", "A4")],
)
@pytest.mark.slow
def test_reads_of_an_answer_functions_table_are_not_drawn(tmp_path, lab, check):
    """A function that answers a question reads 32 addresses, which is no access of a student's kernel."""
    corpus.written(tmp_path, lab, corpus.half_done(lab))
    for folder in (tmp_path, ROOT / "solutions"):
        status, text, errors = lab32("explain", lab, check, "--dir", folder)
        assert (status, text) == (2, "")
        assert "have no access to draw" in errors or "none of your kernels that access memory" in errors


@pytest.mark.parametrize("shape", ["8,4,8", "16,0,-16", "3,2,20", "0,0,31", "3,4,3"])
@pytest.mark.slow
def test_a_swizzle_is_drawn_by_its_formula_and_by_the_students_function(shape):
    status, by_formula, _ = lab32("explain", "--swizzle", shape)
    # The table of 3,4,3 has 8 rows, and is drawn whole.
    assert status == 0 and ("Drawn: the first 32 of " in by_formula) == (shape != "3,4,3")
    assert max(map(len, by_formula.splitlines())) <= 80
    assert lab32("explain", "swizzle", "--swizzle", shape, "--dir", "solutions")[:2] == (0, by_formula)
    own = lab32("explain", "swizzle", "--swizzle", shape)[1]
    assert own.startswith(by_formula.split(":")[0]) and (own == by_formula) == shape.startswith("0")


def test_one_picture_is_drawn_where_one_is_asked_for():
    status, text, _ = lab32("explain", "bank_conflicts", "B1 row_scan: wave", "--picture", "traffic")
    assert status == 0
    assert "Memory chart" in text and "its sign" not in text and "Lanes at work" not in text


@pytest.mark.slow
def test_a_given_kernel_is_drawn_where_the_students_function_places_its_accesses():
    status, text, _ = lab32("explain", "coalescing", "B2 fields: sectors")
    assert status == 0
    assert "32 sectors where 4 would do" in text and re.search(r"^particles\[\d+\]  *│", text, re.M)


@pytest.mark.slow
def test_pictures_do_not_answer_open_questions(tmp_path):
    """Steps would show which lanes add; shuffles, which lanes keep their own values; atomics, how many add."""
    for lab, check, question in (
        ("reduction", "v4: idle lanes", "A1 lanes, warps, banks"),
        ("shuffle", "C1 sum_by_warps: adds", "A2 who adds"),
    ):
        status, _, errors = lab32("explain", lab, check)
        assert status == 2
        assert f"it would answer a question of `{question}`; answer that first" in errors
    solved = (ROOT / "solutions/shuffle/shuffle.cu").read_text()
    (tmp_path / "shuffle").mkdir()
    for text, there in ((solved, True), (solved.replace("down_lane_20, 20", "down_lane_20, -1"), False)):
        (tmp_path / "shuffle/shuffle.cu").write_text(text)
        status, drawn, errors = lab32(
            "explain", "shuffle", "B3 reduce_shuffle: wave", "--picture", "shuffles", "--dir", tmp_path
        )  # fmt: skip
        assert (status == 0) == there, errors
        assert ("Lanes read by shuffles" in drawn) == there


class Watched:
    """`lab32 grade --watch`, whose output is read as it arrives."""

    def __init__(self, folder, *words):
        command = [
            ROOT / "build/lab32",
            "grade",
            *words,
            "--dir",
            folder,
            "--device",
            "sim",
            "--watch",
        ]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.timer = threading.Timer(240, self.process.kill)
        self.timer.start()

    def until(self, words):
        text = ""
        for line in self.process.stdout:
            text += line
            if words in line:
                return text
        raise AssertionError(f"it ended without “{words}”: {text}")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        self.timer.cancel()
        self.process.stdout.close()


def test_a_file_is_graded_again_when_it_is_saved(tmp_path):
    lab = tmp_path / "swizzle"
    shutil.copytree(ROOT / "labs/swizzle", lab)
    shutil.copytree(ROOT / "labs/include", tmp_path / "include")
    watched = Watched(tmp_path, "swizzle")
    try:
        first = watched.until("Ctrl-C ends this")
        assert "A1 the table" in first
        # Saves like an editor: a new file replaces the old one.
        (lab / "new").write_text((ROOT / "solutions/swizzle/swizzle.cu").read_text())
        os.replace(lab / "new", lab / "swizzle.cu")
        second = watched.until("Ctrl-C ends this")
        # The checks whose results changed are listed.
        assert "  A1 the table of <3, 0, 3>: 8 of 64 right -> 64 of 64 right (+8)\n" in second
        assert "  C3 swizzled: wavefronts: too many: see C1 -> 9,216 wavefronts" in second
    finally:
        watched.end()
    lines = [json.loads(line) for line in (tmp_path / ".lab32/history").read_text().splitlines()]
    assert [line["lab"] for line in lines] == ["swizzle", "swizzle"]
    assert lines[0]["score"] < lines[1]["score"] == lines[1]["max_score"]
