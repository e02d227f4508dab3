import pytest
from graded import graded

from lab32 import tables
from lab32.labs.transpose import notebook as transpose
from lab32.labs.transpose.tables import words_per_bank

LSU = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"


@pytest.fixture(scope="module")
def lab():
    return graded("transpose", "solutions").lab("transpose")


@pytest.fixture(scope="module")
def limits():
    return tables.read_rubric_of_lab("transpose")


def hardware(form, metric, size=transpose.COUNTED, kind="float"):
    table = tables.read_measured_table("h200-transpose-counters")
    return table.value("value", task=kind, form=form, n=size, metric=metric)


def test_the_lectures_conflicts_follow_the_g80s_bank_rule():
    """16 banks, half-warps: the documented conflicts follow from the bank rule."""
    ways = {
        f"16 wide, pitch {pitch}": max(words_per_bank(16, pitch, 16, 16))
        for pitch in (16, 17)
    }
    assert ways == transpose.documented_wavefronts_by_pitch() == {
        "16 wide, pitch 16": 16,
        "16 wide, pitch 17": 1,
    }


@pytest.mark.slow
def test_the_simulators_conflicts_follow_todays_bank_rule(lab, limits):
    ours = transpose.wavefronts_of_pitches(lab)
    assert len(ours) == 4
    for label, (wide, pitch) in transpose.PITCHES.items():
        rule = max(words_per_bank(wide, pitch))
        answer = limits["banks"]["questions"][f"pitch_{pitch}_wavefronts"]["answer"]
        assert ours[label] == rule == answer


@pytest.mark.parametrize("pitch, store", [(16, 1), (17, 2)])
def test_the_hardware_has_todays_conflicts(pitch, store):
    """The SYSU Lecture's kernel on an H200: per warp, a load down a column, a store along rows."""
    warps = 1024 * 1024 // 32
    load = max(words_per_bank(16, pitch))
    assert hardware(f"16 wide, pitch {pitch}", "memory_l1_wavefronts_shared") == warps * (
        load + store
    )


@pytest.mark.slow
def test_the_simulator_counts_what_the_hardware_counts(lab):
    """The reference solution, graded now, beside the counters of an H200: equal to the last one."""
    compared = 0
    for test in lab.tests:
        form = next((v for v in transpose.VERSIONS if f" {v}: " in test.name), None)
        size = "1000x2003" if "partial tiles" in test.name else transpose.COUNTED
        for what in ("sectors", "requests"):
            if form and what in test.figures:
                counted = sum(hardware(form, LSU.format(what, op), size) for op in ("ld", "st"))
                assert test.figures[what] == counted, (test.name, what)
                compared += 1
        if form and "wavefronts" in test.figures:
            counted = hardware(form, "memory_l1_wavefronts_shared", size)
            assert test.figures["wavefronts"] == counted, test.name
            compared += 1
    assert compared == 16


def sectors_along_rows(rows, columns, element=4, group=32):
    """Distinct sectors of each group of neighbouring columns, summed over all rows."""
    found = 0
    for row in range(rows):
        for column in range(0, columns, group):
            first = (row * columns + column) * element
            last = (row * columns + min(column + group, columns)) * element - 1
            found += last // 32 - first // 32 + 1
    return found


@pytest.mark.slow
def test_ideals_follow_from_the_shape(limits):
    rows = {row["check"]: row for row in limits.values() if isinstance(row, dict) and "check" in row}
    counted = 0
    for test in graded("transpose", "solutions").lab("transpose").tests:
        row, ideal = rows[test.name], {k: v for k, v in test.figures.items() if k.startswith("ideal_")}
        if not ideal:
            continue
        counted += 1
        n, m = row["rows"], row["columns"]
        if "ideal_wavefronts" in ideal:
            assert ideal["ideal_wavefronts"] == 2 * n * m * 4 / 128, test.name
        if "ideal_sectors" in ideal:
            assert ideal["ideal_sectors"] == sectors_along_rows(n, m) + sectors_along_rows(m, n), test.name
        assert ideal.get("ideal_requests", n * m / 64) == n * m / 64  # 128 floats each way
    assert counted > 5



def test_each_graded_version_has_a_measured_effect():
    """No task without a measured effect: each version is faster than the one it improves on."""
    times = {
        row["form"]: float(row["median_ms"])
        for row in tables.read_measured_table("h200-transpose").where(task="float", n=transpose.LARGE)
    }
    for slow, fast in (
        ("naive", "tiled"),
        ("tiled", "padded"),
        ("tiled", "swizzled"),
        ("padded", "best"),
        ("best, by elements", "best"),
    ):
        assert times[slow] > 1.1 * times[fast], (slow, fast)


def test_the_lectures_ratios_match_its_times():
    ratios = transpose.documented_slowdowns_by_label()
    assert [round(ratio, 1) for ratio in ratios.values()] == [6.6, 3.2]


@pytest.mark.slow
def test_the_warm_up_shows_that_columns_take_longer():
    rows = transpose.time_cpu_traversals()
    assert transpose.slow_over_fast_ratios(rows)["walk: columns / rows"] > 1
    assert len(transpose.times_by_stride(rows)) == 7
