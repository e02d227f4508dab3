"""The data that labs/reduction/report.ipynb shows."""

import re
from pathlib import Path

from lab32 import ROOT, tables

STEPS = ["v1", "v2", "v3", "v4", "v5", "v6", "v7"]
VERSIONS = [*STEPS, "v8"]
LECTURE = 1 << 22  # ints in the SYSU Lecture's table
LARGE = 1 << 28  # 1 GiB, many times larger than any L2
SIZES = [1 << power for power in range(20, 29)]
# Students do not get the measured counters of these kernels of the solution, because a question asks for their bank
# conflicts.
WITHHELD_KERNELS = {"reduce_v2"}

# ---- the SYSU Lecture's versions -----------------------------------------------------------------


def published_g80_value_by_kernel(metric):
    """The SYSU Lecture's {version: value} on a G80; `metric` is time (ms), bandwidth (GB/s), step speed-up or
    cumulative speed-up."""
    rows = tables.read_documented_table("reduction_g80").where(metric=metric)
    return {row["kernel"]: float(row["value"]) for row in rows if row["kernel"] in STEPS}


def published_step_speed_ups():
    """For the report page: ({version: documented speed-up over the version before}, the source, a note)."""
    return published_g80_value_by_kernel("step speed-up"), "SYSU Lecture, a G80", "A G80 has no caches and 16 banks"


def step_and_total_speed_ups(times):
    """From {version: time}: the speed-up of each version over the one before, and over the first."""
    names = [name for name in VERSIONS if name in times]
    step = {b: times[a] / times[b] for a, b in zip(names, names[1:])}
    return step, {name: times[names[0]] / times[name] for name in names[1:]}


def measured_times(n=LECTURE, task="int", table="h200-reduction"):
    """Measured {version: ms}, including CUB."""
    rows = tables.read_measured_table(table).where(task=task, n=n)
    wanted = [*VERSIONS, "CUB"]
    return {row["form"]: float(row["median_ms"]) for row in rows if row["form"] in wanted}


def bandwidths(times, n=LECTURE):
    """{version: GB/s} from {version: ms} for n elements of 4 bytes."""
    return {name: 4 * n / ms / 1e6 for name, ms in times.items()}


def read_measured_kernel_times(n=LECTURE, folder=ROOT / "build"):
    """The student's own measured times, if grader/labs/reduction/measure/measure.sh was run: ({version: ms},
    device)."""
    for path in sorted(Path(folder).glob("*-reduction.csv")):
        table = tables.read_data_table(path)
        rows = table.where(task="int", n=n)
        found = {row["form"]: float(row["median_ms"]) for row in rows if row["form"] in VERSIONS}
        return found, table.head["device"]
    return {}, ""


# ---- your counters -------------------------------------------------------------------------------

# Counts per block are compared only between blocks of 128 threads: v6 has blocks of 1024, and v7 and v8 sum as
# many elements per block as the launch assigns.
ALIKE = STEPS[:5]
COUNTERS = {  # figure: (title, unit, versions)
    "accesses": ("Accesses to shared memory", "requests per block of 128", ALIKE),
    "wavefronts": ("Wavefronts of shared memory", "wavefronts per block of 128", ALIKE),
    "idle_lanes": ("Idle lanes of these accesses", "lanes per element", VERSIONS),
    "barriers": ("Barriers", "barriers per block of 128", ALIKE),
    "instructions": ("Instructions of threads", "instructions per element", VERSIONS),
}


def metric_by_version(lab, what):
    """{version: value} of one figure, simulated, from the first check of a version that has it."""
    found = {}
    for test in lab.tests:
        version = next((v for v in VERSIONS if re.search(rf"\b{v}\b", test.name)), None)
        if test.name.startswith("A1"):
            version = "v1"  # this check launches the given v1
        if version and what in test.figures:
            found.setdefault(version, test.figures[what])
    return found


def ideal_by_version(lab, what):
    """{version: limit} of these figures."""
    return metric_by_version(lab, f"ideal_{what}")


def student_counts_and_limits(lab):
    """For each counter of which the result has figures: (title, unit, labels, the student's values, limits)."""
    for what, (title, unit, versions) in COUNTERS.items():
        mine = {v: n for v, n in metric_by_version(lab, what).items() if v in versions}
        limits = {v: n for v, n in ideal_by_version(lab, what).items() if v in versions}
        yield title, unit, versions, mine, limits


def modelled_ms_by_version(lab):
    """{version: ms} that the model of a GPU predicts for your v7 and v8 at LECTURE ints."""
    return {v: 1e3 * seconds for v, seconds in metric_by_version(lab, "modelled_seconds").items()}


def times_by_provenance(lab, device):
    """{source: {version: ms}} for LECTURE ints."""
    mine, card = read_measured_kernel_times()
    return {
        "documented: G80": published_g80_value_by_kernel("time"),
        "measured: H200": measured_times(),
        **({f"measured: {card}, yours": mine} if mine else {}),
        f"modelled: {device}, yours": modelled_ms_by_version(lab),
    }


def step_total_speed_ups_by_provenance(times):
    """From times_by_provenance(): speed-ups over the version before and over v1, {source: {version: speed-up}}."""
    found = [{kind: step_and_total_speed_ups(ms)[k] for kind, ms in times.items() if "v1" in ms} for k in (0, 1)]
    for series, metric in zip(found, ("step", "cumulative")):
        series["documented: G80"] = published_g80_value_by_kernel(f"{metric} speed-up")
    return found


def bandwidths_by_provenance(times):
    """From times_by_provenance(): {source: {version: GB/s}}."""
    rates = {kind: bandwidths(ms) for kind, ms in times.items()}
    return rates | {"documented: G80": published_g80_value_by_kernel("bandwidth")}


def measured_times_with_cub(task):
    """The times of a task of h200-reduction beside CUB's: labels, {"measured: v7": {"2^20": ms}, ...}."""
    sizes = {f"2^{n.bit_length() - 1}": measured_times(n, task) for n in SIZES}
    forms = ("v7", "v8", "CUB")
    return list(sizes), {f"measured: {f}": {size: ms[f] for size, ms in sizes.items()} for f in forms}


# ---- the Reduce Tutorial's versions --------------------------------------------------------------

TUTORIAL = 100000000  # ints
TUTORIAL_FORMS = {  # {kernel of the tutorial: the form of our measurement with the same launch}
    "reduce_eliminate_divergence": "no divergence, 8 threads",
    "reduce_vectorized": "int4, four times the blocks",
    "reduce_vec_v2": "int4 added, 32 threads",
    "shuffle": "shuffle, 128 threads",
}


def tutorial_times_by_provenance():
    """({kernel: ms} documented, {kernel: ms} modelled, {kernel: ms} measured)."""
    then, now = tables.read_documented_table("reduce_ladder"), tables.read_measured_table("h200-reduction")
    documented = {k: then.value("value", kernel=k, metric="Duration") for k in TUTORIAL_FORMS}
    ours = {
        k: now.value("median_ms", task="tutorial", form=form, n=TUTORIAL)
        for k, form in TUTORIAL_FORMS.items()
    }
    modelled = {
        row["documented"]: float(row["modelled_ms"])
        for row in tables.read_modelled_table("rtx4060-ladder").rows
    }
    return documented, modelled, ours
