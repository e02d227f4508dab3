import pytest
from graded import graded, of_state

from lab32 import tables
from lab32.labs.swizzle import notebook as swizzle
from lab32.labs.swizzle.tables import recorded_tma_box_copies


@pytest.fixture(scope="module")
def limits():
    return tables.read_rubric_of_lab("swizzle")


def test_the_documented_table_is_complete():
    table = swizzle.documented_swizzle_3_0_3_values()
    assert table == [[x ^ y for x in range(8)] for y in range(8)]


def test_the_simulator_counts_what_the_hardware_counts(limits):
    """The reference solution, graded now, beside the counters of an H200: equal to the last one."""
    counters = tables.read_measured_table("h200-swizzle-counters")
    metric = "memory_l1_wavefronts_shared"

    def counted(form, metric=metric, task="x4"):
        return counters.value("value", task=task, form=form, n=16, metric=metric)

    lab = graded("swizzle", "solutions").lab("swizzle")
    figures = {test.name: test.figures for test in lab.tests}
    for form in ("padded", "swizzled"):
        ours = figures[f"C{2 + (form == 'swizzled')} {form}: wavefronts"]
        for task in ("x4", "x4.trans"):
            assert ours["wavefronts"] == counted(form, task=task)
        assert limits[f"{form}_wavefronts"]["ideal"] == counted(form, metric + "_ideal")
    assert 16 * figures["C1 plain: wavefronts"]["wavefronts"] == counted("plain")


def test_the_task_has_a_measured_effect():
    """No task without a measured effect; and none is claimed where each row is read once."""
    for task in ("x4", "x4.trans"):
        times = swizzle.recorded_times_over_copy_by_form(task)
        assert times["plain"] > 2.5 * times["swizzled"]
        assert times["padded"] == pytest.approx(times["swizzled"], rel=0.05)
    once = swizzle.recorded_times_over_copy_by_form("once")
    assert once["plain"] < 1.3 * once["swizzled"]


def test_every_recorded_box_has_a_question(limits):
    modes = [key[0] for key in recorded_tma_box_copies()]
    for line in ("tensor_128", "tensor_64_32"):
        asked = limits[line]["modes"]
        assert limits[line]["boxes"] == sum(mode in asked for mode in modes)


def test_a_form_without_a_result_has_no_bar():
    lab = of_state("swizzle", "skeleton").lab("swizzle")
    # What the plain tile takes is asked for, and as given the others take the same.
    assert swizzle.forms_if_plain_check_passed(lab) == [] and swizzle.student_wavefronts_per_tile(lab) == {}
    lab = of_state("swizzle", "solved").lab("swizzle")
    assert swizzle.student_wavefronts_per_tile(lab) == {"plain": 4160, "padded": 576, "swizzled": 576}
    lost = [test for test in lab.tests if "padded" not in test.name]
    assert set(swizzle.student_wavefronts_per_tile(type(lab)(lab.name, lab.status, 0, 0, lost))) == {
        "plain",
        "swizzled",
    }
