import pytest

from lab32 import model


def test_ranks_and_correlation():
    assert model.ranks([30.0, 10.0, 20.0]) == [2, 0, 1]
    assert model.correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert model.correlation([1, 2, 3], [6, 4, 2]) == pytest.approx(-1)


def test_both_sets_are_near_what_was_measured():
    for name in model.SETS:
        group = [launch for launch in model.launches() if launch["set"] == name]
        assert len(group) >= 120
        assert sum(abs(launch["error"]) for launch in group) / len(group) <= 0.15


def test_every_bottleneck_has_its_row():
    assert {launch["bottleneck"] for launch in model.launches()} <= set(model.PARTS)
