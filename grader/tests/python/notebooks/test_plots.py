
import matplotlib.pyplot as plt
import pytest
from matplotlib.patches import Rectangle

from lab32 import ROOT, lab_times, plots, results
from lab32.labs.bank_conflicts import notebook as bank_conflicts
from lab32.labs.coalescing import notebook as coalescing
from lab32.labs.shuffle import notebook as shuffle

SAMPLE = ROOT / "grader/tests/python/data/result.json"


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


@pytest.fixture
def lab():
    return results.load_result(SAMPLE).lab("coalescing")


def spans(axes):
    """(from, to) of each bar, from the top."""
    drawn = [p for p in axes.patches if isinstance(p, Rectangle)]
    drawn.sort(key=lambda p: p.get_y())
    return [(p.get_x(), round(p.get_x() + p.get_width(), 6)) for p in drawn]


def words(axes):
    return [text.get_text() for text in axes.texts]


def key(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_bars_show_values_and_name_their_source():
    axes = plots.bars(
        ["a", "b"], {"simulated": {"a": 4, "b": 5}, "documented": {"b": 4.6}}, "t", "u"
    )
    assert spans(axes) == [(0, 4), (0, 5), (0, 4.6)]
    assert key(axes) == ["simulated", "documented"]
    assert words(axes) == ["4", "5", "4.60"]


def test_a_series_without_a_source_is_refused():
    with pytest.raises(ValueError, match="not guessed"):
        plots.bars(["a"], {"guessed": {"a": 1}}, "t", "u")
    with pytest.raises(ValueError, match="scale must be linear, ratio, points; not log"):
        plots.bars(["a"], {"measured": {"a": 1}}, "t", "u", scale="log")


def test_a_figure_without_numbers_says_so():
    """A skeleton's notebook runs to the end."""
    axes = plots.bars([], {"simulated": {}}, "Your steps", "u")
    assert axes.get_title("left") == "Your steps" and "Nothing to draw yet" in words(axes)[0]


def test_a_zero_is_drawn_on_every_scale():
    for scale in plots.SCALES:
        axes = plots.bars(["a", "b"], {"simulated": {"a": 0, "b": 8}}, "t", "u", scale=scale)
        assert words(axes)[0] in ("0", "0 (off the axis)")
    assert plots.bars(["a"], {"simulated": {"a": 0}}, "t", "u").get_xlim()[1] > 0


def test_a_bar_below_one_points_left():
    axes = plots.bars(["a", "b"], {"measured": {"a": 4, "b": 0.5}}, "t", "times", scale="ratio")
    assert spans(axes) == [(1, 4), (1, 0.5)]
    assert axes.get_xlabel() == "times (logarithmic; bars start at 1)"


def test_no_bar_starts_at_the_end_of_a_logarithmic_axis():
    axes = plots.bars(["a"], {"measured": {"a": 400}}, "t", "ms", scale="points")
    assert spans(axes) == [] and words(axes) == ["400"]


def colours(axes):
    """{name in the key: its colour, hatch}."""
    handles = axes.get_legend().legend_handles
    return {n: (h.get_facecolor(), h.get_hatch()) for n, h in zip(key(axes), handles)}


def test_a_series_without_figures_changes_no_other_colour():
    names = ["measured: a", "measured: b", "modelled: c"]
    full = plots.bars(["x"], {n: {"x": 1} for n in names}, "t", "u")
    partly = plots.bars(["x"], {n: {} if n == "measured: a" else {"x": 1} for n in names}, "t", "u")
    assert key(partly) == ["measured: a (none yet)", "measured: b", "modelled: c"]
    for name in names[1:]:
        assert colours(partly)[name] == colours(full)[name]
    bars_drawn = {(p.get_facecolor(), p.get_hatch()) for p in partly.patches}
    assert bars_drawn == {colours(full)[name] for name in names[1:]}


def test_a_missing_count_of_yours_is_not_drawn_as_zero():
    axes = plots.bars(["a", "b"], {"simulated: yours": {"a": 2}}, "t", "u")
    assert words(axes) == ["2", "not counted"]


def test_a_limit_is_a_mark_and_called_a_limit():
    axes = plots.bars(["a"], {"simulated: yours": {"a": 2}}, "t", "u", limit={"a": 3})
    assert key(axes) == ["simulated: yours", "limit"] and spans(axes) == [(0, 2)]


def test_a_prediction_is_shown_once_there_is_one():
    def drawn(value):
        return plots.bars(["a"], {"measured": {"a": 2}}, "t", "u", expected={"a": value})

    assert key(drawn(None)) == ["measured"]
    assert key(drawn(3)) == ["measured", "your prediction"]
    assert [list(c.get_offsets()[0]) for c in drawn(3).collections if len(c.get_offsets())] == [[3, 0]]


def test_a_ratio_just_below_one_is_not_drawn_as_a_loss():
    axes = plots.bars(["a"], {"simulated": {"a": 0.9995}}, "t", "u", scale="ratio")
    assert words(axes) == ["1.00"]
    assert [note.get_ha() for note in axes.texts] == ["left"]


def test_a_figure_has_room_for_its_key():
    series = {f"measured: {n}": {"a": 1} for n in range(3)}
    bare = plots.bars(["a"], series, "t", "u").figure
    both = plots.bars(["a"], series, "t", "u", limit={"a": 1}, expected={"a": 1}).figure
    assert both.get_figheight() > bare.get_figheight()


def test_the_key_covers_no_bar():
    axes = plots.bars(["a", "b"], {"measured": {"a": 1, "b": 9}, "modelled": {"a": 9}}, "t", "u")
    axes.figure.draw_without_rendering()
    assert axes.get_legend().get_window_extent().y1 < axes.get_window_extent().y0


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (1210, "1,210"), (16777216, "16,777,216"), (1234.5, "1,234"), (181.4, "181"), (2.125, "2.12"),
     (0.00934, "0.00934"), (3.1e-8, "3.1×10⁻⁸"), (1e-6, "10⁻⁶"), (-2.5, "-2.5")],
)  # fmt: skip
def test_axis_numbers_are_formatted_for_people(value, shown):
    assert plots.readable_number(value) == shown


@pytest.mark.parametrize(("low", "high"), [(0.5, 9), (0.9, 1.2), (1e-9, 1e7), (0.008, 8), (1, 1e6)])
def test_ticks_of_a_logarithmic_axis_are_few_and_round(low, high):
    found = plots.log_ticks(low, high)
    assert 0 < len(found) <= 7
    assert all(f"{tick:e}"[0] in "1235" for tick in found)


def test_strides_are_sorted_as_numbers():
    figures = {f"touch<int>({s}) store wavefronts": s for s in (16, 2, 33, 1)}
    check = results.CheckResult("A5 applied to strides", "failed", 0, 6, figures=figures)
    lab = results.LabResult("bank_conflicts", "failed", 0, 6, [check])
    assert list(bank_conflicts.wavefronts_by_type_and_stride(lab)["int"]) == [1, 2, 16, 33]


def test_launches_of_different_sizes_are_compared_by_a_copy_of_their_bytes():
    """add1 at 2^26 takes longer than add2 at 2^24, but it is not the worse pattern."""
    rows, (measured, _) = lab_times.largest_launches("coalescing"), lab_times.times_relative_to_copy("coalescing").values()
    add1, add2 = "add1 (given)", "add2 (given)"
    assert int(rows[add1]["n"]) > int(rows[add2]["n"])
    assert float(rows[add1]["cold_us"]) > 3 * float(rows[add2]["cold_us"])
    assert measured[add1] < measured[add2]
    assert "add2 (given)" not in lab_times.times_relative_to_copy("coalescing", {"add2"})["measured: H200"]


# ---- what the coalescing notebook shows -----------------------------------------------------------


def test_sectors_a_request(lab):
    passed(lab, "C1 one element off the line")
    loads = coalescing.sectors_per_request_by_kernel(lab, "load")
    assert [loads[f"add{k}"] for k in range(1, 6)] == [4, 5, 4, 1, 16]
    assert loads["copy_strided(33)"] == 32
    assert coalescing.sectors_per_request_by_kernel(lab, "store")["copy_strided(33)"] == 4


def passed(lab, check):
    next(t for t in lab.tests if t.name == check).status = "passed"


def test_figures_do_not_answer_open_questions(lab):
    assert "add2" not in coalescing.sectors_per_request_by_kernel(lab, "load")
    assert "length_aos" in coalescing.kernels_with_hidden_counts(lab)
    assert "int4" not in bank_conflicts.wavefronts_by_type_and_stride(lab)
    assert shuffle.kernels_with_hidden_times(lab) == {"reduce_atomic<int>", "reduce_atomic<float>"}


def test_documented_sectors():
    assert coalescing.documented_sectors_per_request("load") == {
        "add1": 4, "add2": 4.6, "add3": 4, "add4": 1, "add5": 16,
    }  # fmt: skip
    assert coalescing.documented_sectors_per_request("store") == {"add1": 4, "add2": 5, "add3": 4, "add5": 16}


def test_utilisation_agrees_with_the_documents(lab):
    passed(lab, "C1 one element off the line")
    ours = coalescing.byte_utilisation_percent_by_kernel(coalescing.sectors_per_request_by_kernel(lab, "load"))
    assert ours == coalescing.documented_byte_utilisation_percent()


def test_tasks_are_multiples_of_the_ideal(lab):
    found = coalescing.ratios_to_ideal_by_label(lab)
    assert found["scale, sectors"] == 8 and found["axpy, requests"] == 4
    assert [name.split(",")[0] for name in found] == coalescing.TASKS


def test_a_number_near_the_limits_mark_stands_clear_of_it():
    axes = plots.bars(["a", "b"], {"simulated: yours": {"a": 32768, "b": 32768}}, "t", "bytes", limit={"a": 36864, "b": 32768})
    assert [text.get_text() for text in axes.texts] == ["32,768 of 36,864", "32,768"]


def test_an_axis_with_only_ideal_values_has_a_scale():
    axes = plots.bars(["a"], {"simulated: yours": {"a": 1}}, "t", "times the ideal", scale="ratio")
    assert {1, 2} <= set(axes.get_xticks()) and axes.get_xlim()[1] > 2
