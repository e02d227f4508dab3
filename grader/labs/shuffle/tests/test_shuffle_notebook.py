import pytest
from graded import graded

from lab32 import tables
from lab32.labs.shuffle import notebook as shuffle

LSU = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"


@pytest.fixture(scope="module")
def lab():
    return graded("shuffle", "solutions").lab("shuffle")


@pytest.fixture(scope="module")
def limits():
    return tables.read_rubric_of_lab("shuffle")


def hardware(task, form, n, metric):
    table = tables.read_measured_table("h200-shuffle-counters")
    return table.value("value", task=task, form=form, n=n, metric=metric)


def ms(task, form, n):
    return tables.read_measured_table("h200-shuffle").value("median_ms", task=task, form=form, n=n)


def test_the_lessons_numbers_are_consistent():
    """Its speedups are those of its times, and its times are 0.5 to 17 GB/s."""
    times = shuffle.documented_times()
    for name, ratio in shuffle.speed_ups_of_pairs(times).items():
        assert shuffle.documented_speed_ups()[name] == pytest.approx(ratio, abs=1e-3)
    speeds = [shuffle.read_gigabytes_per_second(value) for value in times.values()]
    assert [round(speed, 1) for speed in speeds] == [0.5, 15.9, 17.3]
    blocks = tables.read_documented_table("shuffle_t4").value("value", unit="block")
    assert blocks == shuffle.LESSON / (2 * 256)


@pytest.mark.slow
def test_lesson_hardware_and_model_agree_on_the_order(lab):
    """The order of the kernels carries over from one GPU to another, unlike their times."""
    modelled = shuffle.modelled_times(lab)
    assert len(modelled) == 3
    for times in (shuffle.documented_times(), shuffle.measured_times(), modelled):
        assert times["reduce_atomic"] > 30 * times["reduce_shared"]
        # The margin is smaller than the model's error, so the model must only have the order.
        assert times["reduce_shared"] > (1 if times is modelled else 1.05) * times["reduce_shuffle"]


@pytest.mark.slow
def test_the_simulator_counts_what_the_hardware_counts(lab):
    """The reference solution, graded now, beside the counters of an H200: equal to the last one."""
    figures = {test.name: test.figures for test in lab.tests}
    wavefronts = "memory_l1_wavefronts_shared"
    adds = LSU.format("sectors", "red")
    for name, what, task, form, n, metric in (
        ("B1 reduce_shared: wavefronts", "wavefronts", "sum", "reduce_shared", 1 << 18, wavefronts),
        ("B3 reduce_shuffle: wavefronts", "wavefronts", "sum", "reduce_shuffle", 1 << 18, wavefronts),
        ("C1 sum_by_warps: adds", "adds", "sum", "sum_by_warps", 1 << 18, adds),
        ("C2 sum_by_blocks: adds", "adds", "sum", "sum_by_blocks", 1 << 18, adds),
        ("C3 sum_by_key: adds", "adds", "four keys per warp", "sum_by_key", 1 << 16, adds),
        ("D1 row_range: shared", "wavefronts", "range", "row_range", 4096, wavefronts),
    ):
        assert figures[name][what] == hardware(task, form, n, metric), (name, what)
    for line, task in (
        ("D1 row_range: shared", "range"),
        ("D2 row_moments: sectors", "moments"),
        ("D3 softmax: sectors", "softmax"),
        ("D4 layer_norm: sectors", "layer_norm"),
    ):
        form = line.split()[1].rstrip(":")
        for what in ("sectors", "requests"):
            counted = sum(hardware(task, form, 4096, LSU.format(what, op)) for op in ("ld", "st"))
            assert figures[line][what] == counted, (line, what)
    experiment = figures["B4 a sum of 2^24 ones"]
    assert experiment["reduce_atomic adds"] == hardware("sum", "reduce_atomic", 1 << 24, adds)


@pytest.mark.slow
def test_integers_are_aggregated_and_floats_are_not(lab):
    figures = lab.figures_by_name()
    adds = LSU.format("sectors", "red")
    for task, kernel in (("sum", "reduce_atomic<float>"), ("int sum", "reduce_atomic<int>")):
        counted = hardware(task, "reduce_atomic", 1 << 18, adds) / ((1 << 18) / 32)
        assert figures[f"{kernel} adds per warp"] == counted == (32 if task == "sum" else 1)
    by_hand = hardware("int sum", "by warps", 1 << 18, adds)
    assert by_hand == hardware("int sum", "reduce_atomic", 1 << 18, adds)


@pytest.mark.parametrize("n", [1 << 20, pytest.param(1 << 24, marks=pytest.mark.slow)])
def test_numpy_adds_as_the_hardware_does(n):
    """The order of a tree is fixed, so its sum is, to the last bit."""
    table = tables.read_measured_table("h200-shuffle-results")
    values = shuffle.noise(n)
    for form, order in (
        ("one by one on the host", shuffle.sum_one_by_one),
        ("reduce_shared", shuffle.ORDERS["as reduce_shared"]),
        ("reduce_shuffle", shuffle.ORDERS["as reduce_shuffle"]),
    ):
        (row,) = table.where(input="noise", n=n, form=form)
        assert row["different"] == "1"
        assert f"{order(values):.9g}" == row["first"], (form, n)


def test_the_sum_of_ones_stops_at_the_documented_value(limits):
    answers = {name: q["answer"] for name, q in limits["ones"]["questions"].items()}
    sums = shuffle.sums_of_ones_by_order([25])
    assert answers["one_by_one"] == sums["one by one"]["2^25"]
    assert answers["in_pairs"] == sums["in pairs"]["2^25"] == sums["as reduce_shuffle"]["2^25"]
    table = tables.read_measured_table("h200-shuffle-results")
    for form, exact in (("reduce_atomic", False), ("reduce_shuffle", True)):
        (row,) = table.where(input="ones", n=1 << 25, form=form)
        assert float(row["first"]) == answers["in_pairs" if exact else "one_by_one"]


def test_each_task_has_a_measured_effect():
    """No task without a measured effect."""
    n = shuffle.LESSON
    assert ms("sum", "reduce_shared", n) > 1.2 * ms("sum", "reduce_shuffle", n)
    assert ms("sum", "reduce_atomic", n) > 30 * ms("sum", "sum_by_warps", n)
    assert ms("sum", "sum_by_warps", n) > 7 * ms("sum", "sum_by_blocks", n)
    for keys in ("four keys per warp", "one key per warp"):
        assert ms(keys, "an add per lane", n) > 3 * ms(keys, "sum_by_key", n)
    assert ms("moments", "two passes", 4096) > 1.7 * ms("moments", "row_moments", 4096)
    for columns, gain in ((256, 1.15), (1024, 0.99), (4096, 1.05)):
        for task in ("softmax", "layer_norm"):
            assert ms(task, "three passes", columns) > gain * ms(task, task, columns)


def test_ideals_follow_from_the_shape(limits):
    for line, streams in (("softmax_sectors", 2), ("layer_norm_sectors", 4)):
        rule = limits[line]
        assert rule["ideal"] == streams * rule["rows"] * rule["columns"] / 8
    for line in ("row_range_shared", "row_moments_sectors"):
        rule = limits[line]
        assert rule["ideal"] == rule["rows"] * (rule["columns"] / 8 + 2)
