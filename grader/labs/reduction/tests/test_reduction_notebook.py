import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from graded import graded

from lab32 import ROOT, tables
from lab32.labs.reduction import figures as drawings
from lab32.labs.reduction import notebook as reduction
from lab32.labs.reduction import tables as reduction_tables


@pytest.fixture(scope="module")
def lab():
    return graded("reduction", "solutions").lab("reduction")


LAST_WARP = """
__global__ void last_warp(const int* in, int* out) {
  __shared__ int sums[64];
  unsigned t = threadIdx.x;
  sums[t] = in[t];
  sums[t + 32] = in[t + 32];
  __syncthreads();
  QUALIFIER int* own = sums;
  own[t] += own[t + 32];
  own[t] += own[t + 16];
  own[t] += own[t + 8];
  own[t] += own[t + 4];
  own[t] += own[t + 2];
  own[t] += own[t + 1];
  __syncthreads();
  if (t == 0) *out = sums[0];
}
"""


def last_warp(qualifier=""):
    """nvcc's code for the SYSU Lecture's last warp: the PTX instructions between the barriers."""
    lines = (ROOT / "build/toolchain.env").read_text().splitlines()
    nvcc = dict(line.split("=", 1) for line in lines)["NVCC"]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "last_warp.cu"
        source.write_text(LAST_WARP.replace("QUALIFIER", qualifier))
        command = [nvcc, "-arch=sm_90", "-ptx", "-o", "-", str(source)]
        ptx = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    between = ptx.split("bar.sync")[1].splitlines()[1:]
    return [line.strip() for line in between if line.strip()]


def ms(form, n=reduction.LARGE, task="int"):
    return tables.read_measured_table("h200-reduction").value("median_ms", task=task, form=form, n=n)


# ---- what is documented --------------------------------------------------------------------------


def test_the_lectures_table_is_consistent():
    """2^22 ints over the time is the bandwidth, and the speed-ups are ratios of times, as far as
    three decimals of a millisecond tell."""
    times = reduction.published_g80_value_by_kernel("time")
    assert list(times) == reduction.STEPS
    bounds = {v: (t - 0.0005, t + 0.0005) for v, t in times.items()}
    for version, rate in reduction.published_g80_value_by_kernel("bandwidth").items():
        low, high = (4 * reduction.LECTURE / t / 1e6 for t in reversed(bounds[version]))
        assert low - 0.01 <= rate <= high + 0.01, version
    step, cumulative = (reduction.published_g80_value_by_kernel(f"{k} speed-up") for k in ("step", "cumulative"))
    for before, version in zip(reduction.STEPS, reduction.STEPS[1:]):
        for ups, over in ((step, before), (cumulative, "v1")):
            low = bounds[over][0] / bounds[version][1]
            high = bounds[over][1] / bounds[version][0]
            assert low - 0.01 <= ups[version] <= high + 0.01, (version, over)
    assert (times["v1"], times["v7"], cumulative["v7"]) == (8.054, 0.268, 30.04)
    g80 = tables.read_documented_table("reduction_g80")
    assert g80.value("value", metric="peak bandwidth") == 86.4
    assert g80.value("value", kernel="v7", metric="bandwidth, 32M ints") == 73


def test_the_tutorials_thread_counts_are_the_blocks_of_its_launches():
    table = tables.read_documented_table("reduce_ladder")
    threads = {k: table.value("value", kernel=k, metric="Threads") for k in reduction.TUTORIAL_FORMS}
    n = reduction.TUTORIAL
    assert list(threads.values()) == [n, n, -(-n // 128) * 32, -(-n // 512) * 128]
    for kernel, form in reduction.TUTORIAL_FORMS.items():
        counted = reduction_tables.hardware_counts(form, "tutorial", n)["launch__thread_count"]
        assert counted == threads[kernel], kernel


def test_every_row_of_the_tutorials_comparison_exists():
    rows = tables.read_documented_table("reduce_ladder").rows
    assert len(rows) == 11 * 4
    assert {row["kernel"] for row in rows} == set(reduction.TUTORIAL_FORMS)


# ---- what is measured ----------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["int", "float", "int, warm", "float, warm"])
def test_v8_is_faster_than_cub(task):
    for n in reduction.SIZES:
        assert ms("v8", n, task) < ms("CUB", n, task), n


def test_v4_to_v6_are_limited_by_block_starts():
    for form in ("v4", "v5", "v6", "no tree"):
        assert ms(form) == pytest.approx(ms("empty"), rel=0.01), form
    for form in ("v3", "v1, mask"):
        assert ms(form) == pytest.approx(ms("empty, one int per thread"), rel=0.01), form
    assert ms("empty, one int per thread") == pytest.approx(2 * ms("empty"), rel=0.01)


def test_each_graded_step_has_a_measured_effect():
    """No task without a measured effect. v5 and v6 show theirs in blocks of 256 threads."""
    for slow, fast in (
        ("v1", "v2"),
        ("v2", "v3"),
        ("v3", "v4"),
        ("v4, 256 threads", "v6, 256 threads"),
        ("v6", "v7"),
        ("v7", "v8"),
    ):
        assert ms(slow) > 1.05 * ms(fast), (slow, fast)


def test_the_notes_ladder_follows_the_number_of_blocks():
    rungs = reduction_tables.tutorial_rows_sorted_by_blocks()
    for (_, more, slow, _), (_, fewer, fast, _) in zip(rungs, rungs[1:]):
        assert more == fewer or slow > fast
    few_threads = [(blocks, time) for form, blocks, time, _ in rungs if blocks > 1e6]
    each = [1e6 * time / blocks for blocks, time in few_threads]
    assert max(each) < 1.15 * min(each)  # ns


def test_only_all_barriers_are_safe_but_only_no_barriers_fail_visibly():
    rows = tables.read_measured_table("h200-reduction-steps").rows
    wrong = {row["form"]: int(row["wrong"]) for row in rows}
    assert wrong.pop("nothing") > 16000
    assert set(wrong.values()) == {0} and len(wrong) == 4


def test_without_the_remainder_v1_is_as_fast_as_v3():
    assert ms("v1, mask", 1 << 22) == pytest.approx(ms("v3", 1 << 22), rel=0.01)


# ---- simulated beside measured -------------------------------------------------------------------


@pytest.mark.slow
def test_the_simulator_counts_what_the_hardware_counts(lab):
    """Wavefronts of a block of the reference solution, beside Nsight Compute's."""
    ours = reduction.metric_by_version(lab, "wavefronts")
    for version, wavefronts in ours.items():
        if version in ("v7", "v8"):
            continue  # whole launches in shapes of their own
        form = "v6, 1024 threads" if version == "v6" else version
        counted = reduction_tables.hardware_counts(form)
        grid = counted["launch__grid_size"]
        assert wavefronts == counted["memory_l1_wavefronts_shared"] / grid, version
    assert {"v1", "v2", "v3", "v4", "v5", "v6"} <= set(ours)


@pytest.mark.slow
def test_v7_loads_each_sector_once(lab):
    counted = reduction_tables.hardware_counts("v7")
    loaded = counted["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
    assert loaded == 4 * reduction.LECTURE / 32
    # Ours has the blocks' atomics with them.
    assert reduction.metric_by_version(lab, "sectors")["v7"] == loaded + counted["launch__grid_size"]


# ---- can volatile go? ----------------------------------------------------------------------------


def accesses(ptx):
    return [re.match(r"(ld|st)\.(volatile\.)?shared", line)[1] for line in ptx if "shared" in line]


def test_without_volatile_nvcc_removes_most_stores():
    kept, gone = last_warp("volatile"), last_warp()
    assert accesses(kept) == ["ld", "ld", "st"] * 6
    assert accesses(gone) == ["ld"] * 7 + ["st"]


def test_the_handout_shows_nvccs_output():
    def plain(line):
        return re.sub(r"\s+", " ", line.replace(">", " ")).strip()

    page = {plain(line) for line in (ROOT / "handouts/reduction-notes.md").read_text().splitlines()}
    kept = [plain(line) for line in last_warp("volatile")]
    gone = [plain(line) for line in last_warp()]
    assert set(kept[:5]) <= page
    assert set(gone[:5]) <= page
    assert any(line.startswith(gone[-1]) for line in page)


# ---- the drawings and helpers --------------------------------------------------------------------


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_the_drawn_trees_add_everything_up(version):
    words = list(range(1, drawings.THREADS + 1))
    for step in range(4):
        pairs = drawings.words_added_by_thread(version, step).values()
        before = list(words)
        for own, other in pairs:
            words[own] = before[own] + before[other]
        assert len(pairs) == drawings.THREADS >> (step + 1)
    assert words[0] == sum(range(1, drawings.THREADS + 1))


def test_v1_and_v2_add_the_same_words():
    for step in range(4):
        one, two = (sorted(drawings.words_added_by_thread(v, step).values()) for v in ("v1", "v2"))
        assert one == two


def test_speed_ups_are_ratios_of_times():
    step, cumulative = reduction.step_and_total_speed_ups({"v1": 8.0, "v2": 4.0, "v3": 1.0, "CUB": 0.5})
    assert step == {"v2": 2, "v3": 4}
    assert cumulative == {"v2": 2, "v3": 8}


def test_the_students_own_times_are_used_if_present(tmp_path):
    assert reduction.read_measured_kernel_times(folder=tmp_path) == ({}, "")
    (tmp_path / "t4-reduction.csv").write_text(
        "# device: Tesla T4\ntask,form,n,block,median_ms\n"
        f"int,v1,{1 << 22},128,2.5\nint,v2,{1 << 20},128,0.1\nint,empty,{1 << 22},128,1\n"
    )
    assert reduction.read_measured_kernel_times(folder=tmp_path) == ({"v1": 2.5}, "Tesla T4")


@pytest.mark.slow
def test_figures_are_by_version(lab):
    for what in reduction.COUNTERS:
        mine = reduction.metric_by_version(lab, what)
        assert {"v1", "v2", "v3", "v4", "v5", "v6"} <= set(mine), what
    assert reduction.ideal_by_version(lab, "barriers")["v5"] == reduction.metric_by_version(lab, "barriers")["v5"] == 2


@pytest.mark.slow
def test_modelled_times_are_shown_with_measured_ones(lab):
    """The grader models as many ints as the SYSU Lecture's table has."""
    modelled, measured = reduction.modelled_ms_by_version(lab), reduction.measured_times()
    assert set(modelled) == {"v7", "v8"}
    for version, ms in modelled.items():
        assert 0.5 < ms / measured[version] < 1.5, version
