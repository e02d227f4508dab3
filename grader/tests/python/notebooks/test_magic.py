"""`%load_ext lab32` in a shell of IPython like that of a notebook's kernel."""

import json

import pytest
from IPython.core.interactiveshell import InteractiveShell

from lab32 import explained, magic, results

PROGRAM = """
__global__ void fill(float* out) {
  out[4 * threadIdx.x] = VALUE;
}
int main() {
  float* out;
  cudaMalloc(&out, BYTES);
  fill<<<1, 32>>>(out);
  return cudaDeviceSynchronize();
}"""


@pytest.fixture(scope="module")
def shell():
    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "lab32")
    yield made
    InteractiveShell.clear_instance()


@pytest.fixture
def said(shell, capsys):
    """Runs a cell; returns (what it printed and displayed, its value, the last line of its error)."""

    def run(text):
        capsys.readouterr()
        outcome = shell.run_cell(text)
        shown = capsys.readouterr()
        return shown.out, outcome.result, shown.err

    return run


def cell(first, value="1", size="500"):
    return first + PROGRAM.replace("VALUE", value).replace("BYTES", size)


@pytest.mark.slow
def test_a_programs_output_and_exit_status_are_shown(said):
    program = '\n#include <cstdio>\nint main(int n, char** a) { printf("%s\\n", a[n - 1]); return 3; }'
    out, _, err = said("%%cuda run -- last" + program)
    assert (out, err) == ("last\n", "exit status 3\n")


@pytest.mark.slow
def test_an_error_points_into_the_cell(said):
    _, _, err = said(cell("%%cuda", value="undeclared"))
    assert err.splitlines()[:3] == [
        'line 3 of the cell: error: identifier "undeclared" is undefined',
        "    3 |   out[4 * threadIdx.x] = undeclared;",
        "                                 ^",
    ]
    assert "UsageError: the cell does not compile" in err and "cell.cu(" not in err


@pytest.mark.slow
def test_a_cell_without_main_is_reported(said):
    _, _, err = said("%%cuda\n__global__ void kernel() {}")
    assert err.startswith("the cell has no main(): a cell must be a complete program\n")


@pytest.mark.slow
def test_a_profile_is_a_table_of_launches(said):
    out, _, err = said(cell("%%lab32 profile --source"))
    assert "launch 0: fill(float *) (1, 1, 1) x (32, 1, 1)" in out and not err
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" in out
    # A store of every fourth float takes 16 sectors instead of 4, on line 3 by Jupyter's count.
    assert any(row.split()[:2] == ["store", "sectors"] and " 16 " in row for row in out.splitlines())
    assert any(row.startswith("    3 |") and "out[4 * threadIdx.x]" in row for row in out.splitlines())


@pytest.mark.slow
def test_a_hazard_names_a_line_of_the_cell(said):
    out, _, _ = said(cell("%%cuda check", size="400"))
    assert "line 3 of the cell" in out and "4 bytes past its end (400 bytes)" in out


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("%%cuda dance\nx", "%%cuda has run, profile, check, explain; not dance"),
        ("%%cuda -t\nx", "-t needs a GPU; `%%cuda profile` counts, and models the time"),
        ("%%cuda run 'x\nx", "No closing quotation"),
        ("%lab32 grade", "%lab32 grade LAB [OPTIONS]: name a lab"),
        ("%lab32 grade nowhere", "there is no lab `nowhere`; the labs are: bank_conflicts"),
        ("%lab32 explain", "%lab32 explain LAB [CHECK]: name a lab"),
    ],
)
def test_bad_input_gets_one_line(said, line, error):
    _, _, err = said(line)
    assert error in err and len(err.splitlines()) == 1 and err.startswith("UsageError")


def test_options_of_nvcc4jupyter_keep_their_meaning():
    assert magic.parse_cuda_magic_line('-p -c "-O3 -DN=4" -- a b') == ("profile", [], ["a", "b"], "-O3 -DN=4")
    assert magic.parse_cuda_magic_line("profile --source --device sim:t4") == (
        "profile", ["--source", "--device", "sim:t4"], [], "",
    )  # fmt: skip


def test_an_earlier_extension_keeps_its_cuda_magic(shell, capsys):
    """The extension that is loaded first keeps %%cuda; %%lab32 exists in any case."""
    other = lambda line, cell: "theirs"  # noqa: E731
    other.__module__ = "nvcc4jupyter.plugin"
    ours = shell.find_cell_magic("cuda")
    shell.register_magic_function(other, "cell", "cuda")
    try:
        magic.register_magic_commands(shell)
        assert shell.find_cell_magic("cuda") is other
        assert shell.find_cell_magic("lab32") is not None
        assert "%%cuda remains nvcc4jupyter's; use %%lab32 for lab32." in capsys.readouterr().out
    finally:
        shell.register_magic_function(ours, "cell", "cuda")


def test_the_grade_magic_shows_a_report(said, shell, monkeypatch):
    monkeypatch.setenv("LAB32_HISTORY", "off")  # the magic adds to the history
    _, result, _ = said("%lab32 grade swizzle --dir solutions --seed 3")
    assert isinstance(result, results.GradingResult) and result.seed == 3
    shell.user_ns["result"] = result
    out, _, _ = said("result")
    assert "100 of 100 points, on sim:h200, seed 3" in out and "✓" in out


def test_the_progress_magic_plots_the_history(said, monkeypatch, tmp_path):
    monkeypatch.setenv("LAB32_DIR", str(tmp_path))
    out, value, _ = said("%lab32 progress swizzle")
    assert value is None and out.startswith("no plot: the history has no prediction")
    (tmp_path / ".lab32").mkdir()
    attempts = [
        {"time": f"2026-01-0{n}T10:00:00", "lab": "swizzle", "score": n, "max_score": 9, "predictions": {"answer x": 8},
         "checks": {"A1": {"status": "passed" if n == 2 else "failed", "measured": "", "figures": {"answer x": 16 - 7 * n}}}}
        for n in (1, 2)
    ]  # fmt: skip
    (tmp_path / ".lab32/history").write_text("".join(json.dumps(each) + "\n" for each in attempts))
    _, value, _ = said("%lab32 progress swizzle")
    assert isinstance(value, explained.ExplainedPicture) and "A1: off by 4, 4.5, 1." in value.svg


def test_a_missing_picture_is_explained_in_one_line(monkeypatch, said):
    monkeypatch.setattr(explained, "BINARY", "/bin/false")
    out, value, err = said('%lab32 explain coalescing "B1 scale: sectors"')
    assert isinstance(value, explained.MissingPicture) and not err
    assert out.splitlines()[-1].endswith("No picture: lab32 explain ended with status 1.")
