import pytest
from graded import graded

from lab32 import plots, tables
from lab32.labs.histogram import notebook as histogram


@pytest.mark.slow
def test_the_simulator_counts_what_the_hardware_counts():
    """The solution's wavefronts and adds, graded now, beside the counters of an H200."""
    hardware = tables.read_measured_table("h200-histogram-counters")
    tests = {test.name: test.figures for test in graded("histogram", "solutions").lab("histogram").tests}

    def counted(task, form, metric):
        return hardware.value("value", task=task, form=form, metric=metric)

    adds = "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"
    assert counted("uniform", "block", adds) == tests["B1 block: adds"]["adds"]
    wavefronts = "memory_l1_wavefronts_shared"
    assert counted("few", "aggregated, adds of 1", wavefronts) == tests["B2 aggregated: wavefronts"]["wavefronts"]


def test_a_private_copy_has_a_measured_effect():
    assert min(histogram.speed_up_by_key_distribution("device", "block").values()) > 50


def test_adds_of_one_do_not_depend_on_the_keys():
    times = histogram.times_over_copy_by_key_distribution("block").values()
    assert max(times) < 1.1 * min(times)
    assert min(histogram.speed_up_by_key_distribution("aggregated, adds of 1", "block").values()) > 0.95  # leaders gain nothing


@pytest.mark.slow
def test_kernels_are_multiples_of_the_ideal():
    results = {d: graded("histogram", d).lab("histogram") for d in ("labs", "solutions")}
    assert set(histogram.ratios_to_ideal_by_label(results["solutions"]).values()) == {1}
    assert set(histogram.ratios_to_ideal_by_label(results["labs"])) <= set(histogram.WASTE)  # adds would answer A1


def test_leaders_gain_where_a_warp_has_one_key_and_lose_where_keys_differ():
    gain = histogram.speed_up_by_key_distribution("weights, block", "weights, aggregated")
    assert gain["sorted"] > 1.2 and gain["constant"] > 1.2
    assert gain["few"] < 0.8 and gain["uniform"] < 0.2


def test_the_forms_of_a_figure_look_different():
    looks = plots.series_styles([f"measured: {form}" for form in histogram.TIMED_FORMS])
    assert len({str(look) for look in looks.values()}) == len(histogram.TIMED_FORMS)
