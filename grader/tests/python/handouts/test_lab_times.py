import pytest

from lab32 import ROOT, lab_times, labs

# The labs whose notebooks show all kernels together.
LABS = [lab for lab in labs.lab_names("core") if "lab_times" in (ROOT / f"labs/{lab}/report.ipynb").read_text()]


@pytest.mark.parametrize("lab", LABS)
def test_every_lab_is_measured_and_modelled(lab):
    series = lab_times.times_relative_to_copy(lab)
    assert set(series) == {"measured: H200", "modelled: H200"}
    measured, modelled = series.values()
    assert list(measured) == list(modelled) and len(measured) >= 6
    # Almost nothing is faster than a copy. The model is a tenth too short for `weigh_padded`.
    assert min(*measured.values(), *modelled.values()) > 0.88


def test_the_largest_launch_of_a_kernel_is_shown():
    rows = lab_times.largest_launches("reduction")
    assert int(rows["reduce_v8<int>"]["n"]) >= 1 << 26
    assert rows["reduce_v8<int>"]["l2"] == "cold"


def test_given_kernels_precede_optimised_ones():
    names = list(lab_times.largest_launches("bank_conflicts"))
    assert names.index("row_scan (given)") + 1 == names.index("row_scan")
    assert not any(name.startswith("touch") for name in names)


def test_an_unknown_lab_is_an_error_that_names_it():
    with pytest.raises(LookupError, match="no kernel of `sorting`"):
        lab_times.largest_launches("sorting")
