import pytest
from graded import graded

from lab32 import tables
from lab32.labs.bank_conflicts import figures as drawings
from lab32.labs.bank_conflicts import notebook as bank_conflicts

WAVEFRONTS = "memory_l1_wavefronts_shared"


@pytest.fixture(scope="module")
def limits():
    return tables.read_rubric_of_lab("bank_conflicts")


@pytest.fixture(scope="module")
def labs():
    return {d: graded("bank_conflicts", d).lab("bank_conflicts")
            for d in ("labs", "solutions")}  # fmt: skip


@pytest.mark.slow
def test_the_simulator_counts_what_the_hardware_counts(labs, limits):
    """Given and optimised forms, graded now, beside the counters of an H200: exactly equal."""
    hardware = tables.read_measured_table("h200-bank_conflicts-counters")
    for directory, form in (("labs", "given"), ("solutions", "optimised")):
        for test in labs[directory].tests:
            task = next((t for t in bank_conflicts.TASKS if f" {t}: wave" in test.name), None)
            # The given histogram's wavefronts depend on the events, which are drawn anew.
            if task is None or (task, form) == ("spectrum", "given"):
                continue
            n = int(limits[f"{task}_wavefronts"]["n"])
            counted = hardware.value("value", task=task, form=form, n=n, metric=WAVEFRONTS)
            assert test.figures["wavefronts"] == counted, (task, form)
            if form == "optimised":
                assert test.figures["ideal_wavefronts"] == counted
                ideal = f"{WAVEFRONTS}_ideal"
                assert hardware.value("value", task=task, form=form, n=n, metric=ideal) == counted


def test_each_graded_task_has_a_measured_effect():
    """No task without a measured effect: the given form takes longer than the optimised one."""
    for task in bank_conflicts.TASKS:
        assert bank_conflicts.h200_ratio_given_to_optimised(task) > 1.2, task
        assert bank_conflicts.h200_ratio_given_to_optimised(task, "wavefronts") > 3, task


def test_the_handouts_pseudo_conflicts_match_the_measurements():
    table = tables.read_measured_table("h200-bank_conflicts-counters")

    def value(form, metric):
        return table.value("value", task="tutorial", form=form, n=100000000, metric=metric)

    raw = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
    for form in {row["form"] for row in table.where(task="tutorial", n=100000000)}:
        assert value(form, WAVEFRONTS) == value(form, f"{WAVEFRONTS}_ideal")
        assert value(form, raw) > 0
    assert value("int, 8 threads", WAVEFRONTS) == 11 * 12_500_000
    assert value("int4, 32 threads", raw) > value("int, 32 threads", raw)


@pytest.mark.slow
def test_counted_touches_match_the_documents(labs):
    ours = bank_conflicts.wavefronts_by_type_and_stride(labs["solutions"])
    compared = 0
    for kind in bank_conflicts.TYPES:
        for stride, count in bank_conflicts.documented_wavefronts_by_stride(kind).items():
            if stride in ours[kind]:
                assert ours[kind][stride] == count, (kind, stride)
                compared += 1
    assert compared == 7


@pytest.mark.slow
def test_tasks_are_multiples_of_the_ideal(labs):
    assert list(bank_conflicts.wavefronts_over_ideal(labs["labs"])) == bank_conflicts.TASKS
    assert bank_conflicts.wavefronts_over_ideal(labs["labs"])["row_scan"] == 16.5
    assert set(bank_conflicts.wavefronts_over_ideal(labs["solutions"]).values()) == {1}
    mine, limit = bank_conflicts.shared_bytes_and_cap_by_task(labs["solutions"])
    assert all(mine[task] <= limit[task] for task in bank_conflicts.TASKS)


@pytest.mark.slow
def test_drawn_wavefronts_equal_the_counted_ones(labs):
    counted = bank_conflicts.wavefronts_by_type_and_stride(labs["solutions"])["int"]
    for name, _, word_of, _ in drawings.STRIDES:
        if name.startswith("stride"):
            words = [word_of(lane) for lane in range(32)]
            assert drawings.phase_wavefronts(words) == counted[int(name.split()[1])]
