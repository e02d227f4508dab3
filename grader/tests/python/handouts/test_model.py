import re

import pytest

from handouts import model_tables as model
from lab32 import ROOT, devices


def test_ranks_and_correlation():
    assert model.ranks_of([30.0, 10.0, 20.0]) == [2, 0, 1]
    assert model.correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert model.correlation([1, 2, 3], [6, 4, 2]) == pytest.approx(-1)


def test_the_model_is_near_the_measurements_of_both_sets():
    for name in model.SETS:
        group = [launch for launch in model.modelled_launches() if launch["set"] == name]
        assert len(group) >= 42
        assert sum(abs(launch["error"]) for launch in group) / len(group) <= 0.15


def test_every_bottleneck_has_its_row():
    assert {launch["bottleneck"] for launch in model.modelled_launches()} <= set(model.PARTS)


def test_derived_values_follow_their_rules():
    for path, text, fresh in devices.profile_files_with_rederived_text():
        assert text == fresh, f"{path.name} is stale: run python -m lab32.devices"


def test_every_value_of_a_profile_has_its_source():
    for path in sorted((ROOT / "data" / "devices").glob("*.toml")):
        for line in path.read_text().splitlines():
            if " = " in line and not line.startswith(("#", "name = ")):
                assert re.search(r" # \w", line), f"{path.name}: {line}"


def test_a_rule_scales_by_the_card():
    text = (
        "[clock]\nsm_hz = 1000\n[time]\nblock_seconds = 0 # as h200, in clocks, times 3 / 2; note\n"
    )
    source = {"clock": {"sm_hz": 2000}, "time": {"block_seconds": 1.0e-8}}
    assert "block_seconds = 3e-08" in devices.profile_with_scaled_values(text, source)
    with pytest.raises(SystemExit, match="no rule `per moon`"):
        devices.profile_with_scaled_values(text.replace("in clocks", "per moon"), source)


def test_the_notes_count_the_launches_whose_bottleneck_the_model_does_not_name():
    counted = model.measured_launch_rows_by_id("-counters")
    named = [(model.dominant_throughput_metric(counted[launch["id"]]), launch) for launch in model.modelled_launches() if launch["l2"] == "cold"]
    others = [(name, launch["kernel"]) for name, launch in named if name and launch["bottleneck"] not in model.THROUGHPUTS[name]]
    assert sorted(others) == [
        ("lts__throughput", "add1"), ("lts__throughput", "average_pairs"), ("lts__throughput", "copy_strided"),
        ("lts__throughput", "flip_swizzled"), ("lts__throughput", "gather"), ("lts__throughput", "gather"),
        ("lts__throughput", "gather_four"), ("lts__throughput", "neighbours_in_common"),
        ("lts__throughput", "order_of_z"), ("lts__throughput", "volume_turned"),
    ]  # fmt: skip
    text = (ROOT / "handouts/model-notes.md").read_text()
    assert "In ten launches Nsight Compute names L2 and the model does not. Three are gathers," in text
