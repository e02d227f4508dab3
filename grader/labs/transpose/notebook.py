"""What labs/transpose/report.ipynb shows, and the tables of its handout."""

import csv
import os
import shlex
import subprocess
import tempfile

from lab32 import ROOT, tables

VERSIONS = ["naive", "tiled", "padded", "swizzled", "best"]
LARGE = "16384x16384"  # 1 GiB a matrix of floats: many times any L2
COUNTED = "1024x1024"

# ---- the warm-up on the CPU ----------------------------------------------------------------------


def warm_up(options="-O1"):
    """Compiles and runs labs/transpose/warmup.cpp here: its rows, as dicts of strings."""
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


def ratios(rows):
    """Of warm_up()'s rows: {label: slow over fast form}."""
    ms = {(row["what"], row["form"]): float(row["ms"]) for row in rows}
    return {
        label: ms[what, slow] / ms[what, fast] for label, (what, slow, fast) in RATIOS.items()
    }


def documented_ratios():
    """The SYSU Lecture's, from times of 50000 x 50000 and 3000 x 3000 ints."""
    table = tables.documented("cpu_walks")

    def seconds(what, form):
        return table.value("value", kernel=f"{what}, {form}")

    return {
        label: seconds(what, slow) / seconds(what, fast)
        for label, (what, slow, fast) in RATIOS.items()
    }


def strides(rows):
    """Of warm_up()'s rows: {ints from one access to the next: ms to walk all memory}."""
    return {f"1 of {row['size']}": float(row["ms"]) for row in rows if row["what"] == "stride"}


# ---- banks then and now --------------------------------------------------------------------------


def words_in_banks(wide, pitch, banks=32, together=32):
    """How many different words each bank is asked for, when `together` neighbouring threads of a
    block `wide` threads wide read word pitch * threadIdx.x + threadIdx.y."""
    words = {pitch * (t % wide) + t // wide for t in range(together)}
    counts = [0] * banks
    for word in words:
        counts[word % banks] += 1
    return counts


PITCHES = {"16 wide, pitch 16": (16, 16), "16 wide, pitch 17": (16, 17),
           "32 wide, pitch 32": (32, 32), "32 wide, pitch 33": (32, 33)}  # fmt: skip


COLUMN = "A2 a column of a tile"


def wavefronts_of_pitches(lab):
    """Simulated, from the figures of the result: {label: wavefronts per load}; none before the check
    that asks for them is passed."""
    figures = lab.figures() if lab.has_passed(COLUMN) else {}
    return {
        label: figures[f"pitch {pitch} wavefronts"]
        for label, (_, pitch) in PITCHES.items()
        if f"pitch {pitch} wavefronts" in figures
    }


def documented_pitches():
    """The SYSU Lecture's, of G80: {label: wavefronts per half-warp}."""
    table = tables.documented("transpose_banks")
    metric = "pitch {}, conflict of a column, N-way".format
    return {f"16 wide, pitch {p}": table.value("value", metric=metric(p)) for p in (16, 17)}


# ---- the versions --------------------------------------------------------------------------------


def against_ideal(lab, what):
    """{version: reached / ideal} of `sectors`, `wavefronts` or `requests` of yours, from the first
    check that has them. No wavefronts before A2 is passed: a tile that is not padded has what A2 asks for."""
    found = {}
    if what == "wavefronts" and not lab.has_passed(COLUMN):
        return found
    for test in lab.tests:
        version = next((v for v in VERSIONS if f" {v}: " in test.name), None)
        if version and what in test.figures and test.figures.get(f"ideal_{what}"):
            found.setdefault(version, test.figures[what] / test.figures[f"ideal_{what}"])
    return found


def times_copy(kind, size=LARGE):
    """Measured on an H200: {version: time in times of a copy}."""
    table = tables.measured("h200-transpose")
    return {
        form: table.value("times_copy", task=kind, form=form, n=size)
        for form in VERSIONS
    }


# ---- tables of the handout -----------------------------------------------------------------------

LSU = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"

# What the handout sets side by side: by name, since forms have blanks and commas in theirs.
SETS = {
    "versions": [*VERSIONS, "copy kernel"],
    "ways": ["naive", "naive, lanes down columns", "tile to columns", "tiled"],
    "lecture": ["16 wide, pitch 16", "16 wide, pitch 17"],
    "rows": ["tiled", "tiled, 4 rows per thread", "padded", "padded, 4 rows per thread", "swizzled",
             "swizzled, 4 rows per thread"],
    "most": ["padded", "copy kernel", "padded, 4 rows per thread", "best, by elements",
             "best, along rows", "best"],
    "shorts": ["naive", "tiled", "padded by one", "padded", "swizzled", "best, by elements",
               "best"],
}  # fmt: skip


def cpu_walks():
    """The SYSU Lecture's times on a CPU, and each over that of the good order."""
    table = tables.documented("cpu_walks")
    slower = documented_ratios()
    rows = []
    for label, (what, slow, fast) in RATIOS.items():
        for form in (fast, slow):
            (row,) = table.where(kernel=f"{what}, {form}")
            longer = slower[label] if form == slow else 1
            size = row["metric"].partition(", ")[2]
            rows.append([f"{what}, {form}", size, f"{row['value']} {row['unit']}", f"{longer:.1f}"])
    return tables.markdown(["loops", "matrices", "time", "times longer"], rows, numeric=[2, 3])


def transposed(device, kind, size, chosen):
    """Times of a set of forms."""
    table = tables.measured(f"{device}-transpose")
    rows = []
    for form in SETS[chosen]:
        (row,) = table.where(task=kind, form=form, n=size)
        rows.append([form, f"{float(row['median_ms']):.3f} ms", row["useful_gb_s"], row["times_copy"]])
    head = ["form", "time", "useful GB/s", "time / copy's time"]
    return tables.markdown(head, rows, numeric=[1, 2, 3])


def transpose_counters(device, kind, size, chosen):
    """What the hardware counted for a set of forms, for each request."""
    table = tables.measured(f"{device}-transpose-counters")
    rows = []
    for form in SETS[chosen]:
        if form == "copy kernel":
            continue

        def value(metric, form=form):
            return table.value("value", task=kind, form=form, n=size, metric=metric)

        each = [
            value(LSU.format("sectors", op)) / value(LSU.format("requests", op))
            for op in ("ld", "st")
        ]
        requests = sum(value(LSU.format("requests", op)) for op in ("ld", "st"))
        shared, ideal = (value(f"memory_l1_wavefronts_shared{s}") for s in ("", "_ideal"))
        rows.append(
            [
                form,
                *(f"{n:.3g}" for n in each),
                f"{requests:,.0f}",
                f"{shared:,.0f}",
                f"{ideal:,.0f}",
                f"{value('lts__t_sectors_op_write.sum'):,.0f}",
            ]
        )
    head = ["form", "sectors per load", "sectors per store", "requests", "shared wavefronts",
            "ideal", "sectors written to L2"]  # fmt: skip
    return tables.markdown(head, rows, numeric=range(1, 7))


def geam(device):
    """The best transpose beside a copy and cuBLAS, in rounds of all three."""
    rows = []
    for row in tables.measured(f"{device}-geam").rows:
        times = [f"{float(row[f'{state}_us']):.1f} µs" for state in ("cold", "warm")]
        over = [f"{float(row[f'times_copy_{state}']):.3f}" for state in ("cold", "warm")]
        form = {"copy": "copy, device to device", "geam": "`cublasSgeam`"}.get(row["form"])
        rows.append([f"{row['n']} x {row['n']}", form or f"`{row['form']}`", *times, *over])
    head = ["floats", "form", "cold", "warm", "time / copy's, cold", "warm"]
    return tables.markdown(head, rows, numeric=range(2, 6))


MAKERS = {
    "cpu_walks": cpu_walks,
    "transposed": transposed,
    "transpose_counters": transpose_counters,
    "geam": geam,
}
