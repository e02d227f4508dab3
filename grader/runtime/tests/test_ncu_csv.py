"""A script written for `ncu --csv --print-units base` can read `lab32 profile --csv`."""

import subprocess

import pandas
import pytest

from lab32.results import ROOT

pytestmark = pytest.mark.slow

MEASURED = ROOT / "data" / "measured" / "ncu"
SAMPLE = ROOT / "grader" / "tools" / "measure" / "ncu" / "sample.cu"
MODELLED = ("dram__", "lts__", "l1tex__t_sector_hit_rate", "gpu__time")
# On a GPU it counts one or two wavefronts for each warp that are in none of its parts by operation.
MORE_ON_A_GPU = ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",)


def read_ncu(path):
    """Reads ncu's CSV as scripts usually do: a row per kernel, a column per metric, thousands without commas."""
    lines = [line for line in open(path, encoding="utf-8") if line.startswith('"')]
    table = pandas.read_csv(pandas.io.common.StringIO("".join(lines)), thousands=",")
    table["Metric Value"] = pandas.to_numeric(
        table["Metric Value"].astype(str).str.replace(",", ""), errors="coerce")
    wide = table.pivot(index=["ID", "Kernel Name", "Block Size", "Grid Size"],
                       columns="Metric Name", values="Metric Value")
    return table, wide


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    csv = tmp_path_factory.mktemp("profile") / "sample.csv"
    done = subprocess.run(
        [ROOT / "build" / "lab32", "profile", SAMPLE, "--csv", csv],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return read_ncu(csv)


def test_columns_and_kernels_are_those_of_ncu(simulated):
    table, wide = simulated
    measured, measured_wide = read_ncu(MEASURED / "h200-sample.csv")
    assert list(table.columns) == list(measured.columns)
    assert list(wide.index) == list(measured_wide.index)
    for column in ("Process Name", "Host Name", "Context", "Stream", "Device", "CC",
                   "Section Name"):
        assert set(table[column]) == set(measured[column])


def test_counted_metrics_are_equal(simulated):
    _, wide = simulated
    _, measured = read_ncu(MEASURED / "h200-sample.csv")
    common = [m for m in wide.columns if m in measured.columns and not m.startswith((*MODELLED, *MORE_ON_A_GPU))]
    assert len(common) > 40
    pandas.testing.assert_frame_equal(wide[common], measured[common], check_dtype=False)


def test_units_are_equal(simulated):
    table, _ = simulated
    measured, _ = read_ncu(MEASURED / "h200-sample.csv")

    def units(of):
        return of.drop_duplicates("Metric Name").set_index("Metric Name")["Metric Unit"].fillna("")

    ours, theirs = units(table), units(measured)
    common = ours.index.intersection(theirs.index)
    assert ours[common].to_dict() == theirs[common].to_dict()


def test_a_regular_expression_chooses_kernels(tmp_path):
    csv = tmp_path / "one.csv"
    done = subprocess.run(
        [ROOT / "build" / "lab32", "profile", SAMPLE, "--csv", csv, "--kernel",
         "^histo", "--metrics", "launch__grid_size"],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table, _ = read_ncu(csv)
    assert len(table) == 1 and table["Kernel Name"][0].startswith("histogram(")
    assert "launch 0: histogram(" in done.stdout


@pytest.mark.parametrize("option, message", [
    (["--kernel", "("], "--kernel: `(` is not a regular expression"),
    (["--metrics", "dram__bytes_raed.sum"], "similar names: dram__bytes_read.sum"),
    (["--device", "gpu"], "programs run on the simulator only"),
])
def test_bad_options_are_one_line_and_nothing_runs(option, message):
    done = subprocess.run(
        [ROOT / "build" / "lab32", "profile", SAMPLE, *option],
        capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert message in done.stderr and done.stderr.count("\n") == 1
