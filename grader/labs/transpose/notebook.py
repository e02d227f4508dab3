"""The data that labs/transpose/report.ipynb shows."""

import csv
import os
import shlex
import subprocess
import tempfile

from lab32 import ROOT, tables

VERSIONS = ["naive", "tiled", "padded", "swizzled", "best"]
LARGE = "16384x16384"  # 1 GiB per matrix of floats, many times larger than any L2
COUNTED = "1024x1024"
# Students do not get the counters of these solutions, because a question asks for their bank conflicts.
WITHHELD_KERNELS = {"transpose_tiled"}

# ---- the warm-up on the CPU ----------------------------------------------------------------------


def time_cpu_traversals(options="-O1"):
    """Compiles and runs labs/transpose/warmup.cpp on this machine. Returns the rows that it prints, as dicts of
    strings."""
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    source = ROOT / "labs/transpose/warmup.cpp"
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/warmup"
        command = [*compiler, "-std=c++17", options, str(source), "-o", program]
        subprocess.run(command, check=True)
        done = subprocess.run([program], capture_output=True, text=True, check=True)
    return list(csv.DictReader(done.stdout.splitlines()))


RATIOS = {
    "walk: columns / rows": ("walk", "column by column", "row by row"),
    "product: ijk / ikj": ("product", "ijk", "ikj"),
}


def slow_over_fast_ratios(rows):
    """From the rows of time_cpu_traversals(), {label: time of the slow form / time of the fast form}."""
    ms = {(row["what"], row["form"]): float(row["ms"]) for row in rows}
    return {
        label: ms[what, slow] / ms[what, fast] for label, (what, slow, fast) in RATIOS.items()
    }


def documented_slowdowns_by_label():
    """{label: ratio} from the SYSU Lecture's times for 50000 x 50000 and 3000 x 3000 ints."""
    table = tables.read_documented_table("cpu_walks")

    def documented_seconds(what, form):
        return table.value("value", kernel=f"{what}, {form}")

    return {
        label: documented_seconds(what, slow) / documented_seconds(what, fast)
        for label, (what, slow, fast) in RATIOS.items()
    }


def times_by_stride(rows):
    """From the rows of time_cpu_traversals(), {distance of successive accesses in ints: ms to visit all memory}."""
    return {f"1 of {row['size']}": float(row["ms"]) for row in rows if row["what"] == "stride"}


# ---- banks then and now --------------------------------------------------------------------------


PITCHES = {"16 wide, pitch 16": (16, 16), "16 wide, pitch 17": (16, 17),
           "32 wide, pitch 32": (32, 32), "32 wide, pitch 33": (32, 33)}  # fmt: skip


COLUMN = "A2 a column of a tile"


def wavefronts_of_pitches(lab):
    """Simulated {label: wavefronts per load} from the result's figures; empty until the check that asks for them has
    passed."""
    figures = lab.figures_by_name() if lab.has_passed(COLUMN) else {}
    return {
        label: figures[f"pitch {pitch} wavefronts"]
        for label, (_, pitch) in PITCHES.items()
        if f"pitch {pitch} wavefronts" in figures
    }


def documented_wavefronts_by_pitch():
    """The SYSU Lecture's {label: wavefronts per half-warp} on a G80."""
    table = tables.read_documented_table("transpose_banks")
    metric = "pitch {}, conflict of a column, N-way".format
    return {f"16 wide, pitch {p}": table.value("value", metric=metric(p)) for p in (16, 17)}


def simulated_and_documented_rows(lab):
    """The rows that the report page compares with the source document: [(label, simulated, documented, unit)]."""
    now, then = wavefronts_of_pitches(lab), documented_wavefronts_by_pitch()
    return [
        (f"{name}: wavefronts", now[name], then[name], "per column") for name in now if name in then
    ]


# ---- the versions --------------------------------------------------------------------------------


def ratios_to_ideal_by_label(lab, what):
    """The student's `sectors`, `wavefronts` or `requests` as multiples of the ideal, {version: ratio}, from the first
    check that has them. Wavefronts are left out until A2 has passed, because an unpadded tile has the count that A2
    asks for."""
    found = {}
    if what == "wavefronts" and not lab.has_passed(COLUMN):
        return found
    for test in lab.tests:
        version = next((v for v in VERSIONS if f" {v}: " in test.name), None)
        if version and what in test.figures and test.figures.get(f"ideal_{what}"):
            found.setdefault(version, test.figures[what] / test.figures[f"ideal_{what}"])
    return found


def times_over_copy(kind, size=LARGE):
    """Measured on an H200: {version: time as a multiple of a copy's}."""
    table = tables.read_measured_table("h200-transpose")
    return {
        form: table.value("times_copy", task=kind, form=form, n=size)
        for form in VERSIONS
    }
