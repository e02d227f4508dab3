from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from lab32 import coalescing, plots, results

SAMPLE = Path(__file__).parent / "data/result.json"


@pytest.fixture
def lab():
    return results.load(SAMPLE).lab("coalescing")


def lengths(axes):
    return [[bar.get_width() for bar in group] for group in axes.containers]


def test_bars_have_the_values_and_say_whose_they_are():
    axes = plots.bars(
        ["a", "b"], {"simulated": {"a": 4, "b": 5}, "documented": {"b": 4.6}}, "t", "u"
    )
    assert lengths(axes) == [[4, 5], [4.6]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "simulated",
        "documented",
    ]
    plt.close(axes.figure)


def test_a_bar_of_nobody_is_refused():
    with pytest.raises(ValueError, match="not guessed"):
        plots.bars(["a"], {"guessed": {"a": 1}}, "t", "u")


def test_an_empty_figure_is_refused():
    with pytest.raises(ValueError, match="nothing to plot"):
        plots.bars([], {"simulated": {}}, "t", "u")


def test_sectors_a_request(lab):
    loads = coalescing.sectors_per_request(lab, "load")
    assert [loads[f"add{k}"] for k in range(1, 6)] == [4, 5, 4, 1, 16]
    assert loads["copy_strided(33)"] == 32
    assert coalescing.sectors_per_request(lab, "store")["copy_strided(33)"] == 4


def test_documented_sectors():
    assert coalescing.documented_sectors("load") == {
        "add1": 4, "add2": 4.6, "add3": 4, "add4": 1, "add5": 16,
    }  # fmt: skip
    assert coalescing.documented_sectors("store") == {"add1": 4, "add2": 5, "add3": 4, "add5": 16}


def test_utilisation_agrees_with_the_documents(lab):
    ours = coalescing.utilisation(coalescing.sectors_per_request(lab, "load"))
    assert ours == coalescing.documented_utilisation()


def test_tasks_are_multiples_of_the_ideal(lab):
    found = coalescing.tasks(lab)
    assert found["scale, sectors"] == 8 and found["axpy, requests"] == 4
    assert [name.split(",")[0] for name in found] == coalescing.TASKS
