"""The tables of handouts/occupancy.md and of its notes."""

from handouts.markdown import markdown_table
from handouts.predictions import worst_predictions
from lab32 import tables
from lab32.labs.occupancy.notebook import measured_occupancy_table

LARGE_COPY = 1 << 26

# ---- measurements ----------------------------------------------------------------------------------


def measured_times_by_warps(task, form="given", n=None, starts=""):
    """Measured [(resident warps, ms)] of a task's shapes with a limit on blocks, fewest warps first."""
    rows = measured_occupancy_table().where(task=task, form=form, **({"n": n} if n else {}))
    return sorted(
        (int(row["warps"]), float(row["median_ms"]))
        for row in rows
        if " in " in row["shape"] and row["shape"].startswith(starts)
    )


def copy_times_by_warps_per_sm(form, n=LARGE_COPY):
    """Measured [(launched warps per multiprocessor, ms)]."""
    rows = measured_occupancy_table().where(task="copy", form=form, n=n)
    return sorted((8 * int(row["shape"].split()[-1]), float(row["median_ms"])) for row in rows)


def l1_hit_rates(task):
    """{shape: L1 hit rate in per cent of sectors}, measured with Nsight Compute."""
    rows = tables.read_measured_table("h200-occupancy-counters").where(
        task=task, metric="l1tex__t_sector_hit_rate.pct"
    )
    return {row["form"].split("; ")[1]: float(row["value"]) for row in rows}


# ---- tables --------------------------------------------------------------------------------------


def occupancy_limits_table():
    """A table of the resources of a multiprocessor of each generation, from data/devices."""
    rows = []
    for gpu in ("h200", "rtx4060", "t4"):
        profile = tables.read_device_profile(gpu)
        m = profile["multiprocessor"]
        cells = [m["max_threads"], m["max_blocks"], m["registers"], m["shared_bytes"],
                 m["shared_allocation_unit"], m["reserved_shared_bytes_per_block"]]  # fmt: skip
        rows.append([f"{profile['name']} (`{profile['arch']}`)", *(f"{n:,}" for n in cells)])
    head = ["GPU", "threads", "blocks", "registers", "shared memory, bytes", "its unit"]
    head.append("reserved per block")
    return markdown_table(head, rows, numeric=range(1, 7))


def occupancy_shapes_table(task, n="", form="given"):
    """A table of the measured shapes of a task, fastest first, with Nsight Compute's counts. It has a column of L1 hits
    only if the task's time depends on them, as that of `match` does."""
    with_hits = task == "match"
    counted = {}
    for row in tables.read_measured_table("h200-occupancy-counters").where(task=task):
        counted.setdefault((row["form"], row["n"]), {})[row["metric"]] = float(row["value"])
    rows = []
    chosen = measured_occupancy_table().where(task=task, form=form, **({"n": n} if n else {}))
    for row in sorted(chosen, key=lambda row: float(row["median_ms"])):
        c = counted.get((f"{row['form']}; {row['shape']}", row["n"]))
        active = f"{c['sm__warps_active.avg.pct_of_peak_sustained_active']:.0f} %" if c else ""
        hit = [f"{c['l1tex__t_sector_hit_rate.pct']:.0f} %" if c else ""] if with_hits else []
        ms = f"{float(row['median_ms']) * 1e3:.1f} µs"
        rows.append([row["shape"], row["warps"], active, *hit, ms])
    head = ["shape", "resident warps", "active warps", *(["L1 hits"] if with_hits else []), "time"]
    return markdown_table(head, rows, numeric=range(1, len(head)))


def copy_times_by_occupancy_table():
    """A table of measured times of a copy of 2^26 floats, by bytes in flight per thread and by number of warps."""
    table = measured_occupancy_table()
    forms = ["one float", "1 float4", "2 float4", "4 float4", "8 float4"]
    blocks = [1, 2, 3, 4, 6, 8]
    rows = []
    for form in forms:
        times = [
            table.value("median_ms", task="copy", form=form, n=LARGE_COPY, shape=f"256 x 1 in {b}")
            for b in blocks
        ]
        rows.append([form, *(f"{ms:.3f} ms" for ms in times)])
    return markdown_table(
        ["in flight per thread", *(f"{8 * b} warps" for b in blocks)], rows, numeric=range(1, 7)
    )


def times_by_register_limit_table():
    """A table of measured times of trace in blocks of 1024, for several limits on registers."""
    counters = tables.read_measured_table("h200-occupancy-counters")
    rows = []
    for row in measured_occupancy_table().where(task="trace", block=1024):

        def measured_metric(metric, row=row):
            form = f"{row['form']}; {row['shape']}"
            return counters.value("value", task="trace", form=form, metric=metric)

        rows.append(
            [
                row["form"],
                row["registers"],
                row["warps"],
                f"{measured_metric('sm__warps_active.avg.pct_of_peak_sustained_active'):.0f} %",
                f"{measured_metric('smsp__sass_inst_executed_op_local_ld.sum'):,.0f}",
                f"{float(row['median_ms']) * 1e3:.1f} µs",
            ]
        )
    head = ["limit", "registers", "resident warps", "active warps", "local loads", "time"]
    return markdown_table(head, rows, numeric=range(1, 6))


JUDGED = {"follow": "modelled time", "copy": "modelled time", "trace": "resident blocks, no spills",
          "smooth": "modelled time", "orbits": "evenness", "match": "bytes against L1"}  # fmt: skip


def rank_of_each(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    places = [0] * len(values)
    for place, index in enumerate(order):
        places[index] = place
    return places


def multiprocessor_utilisation(n, block, grid, multiprocessors=132):
    """How busy the multiprocessors are on average until the busiest one is done. Blocks are assigned in turn, and
    threads stride over n (grader/labs/occupancy/shapes.cpp)."""
    busy = [0] * multiprocessors
    for b in range(grid):
        for lane in range(0, block, 32):
            left = n - (b * block + lane)
            busy[b % multiprocessors] += max(0, -(-left // (block * grid)))
    return n / 32 / multiprocessors / max(busy)


def assignment_vs_measured_time_pairs():
    """[(time that follows from the assignment of blocks alone, measured time)] of the shapes of orbits with at least 8
    warps, in units of the median."""
    rows = [row for row in measured_occupancy_table().where(task="orbits") if int(row["warps"]) >= 8]
    pairs = [
        (1 / multiprocessor_utilisation(*(int(row[k]) for k in ("n", "block", "grid"))), float(row["median_ms"]))
        for row in rows
    ]
    unit = sorted(ms / time for time, ms in pairs)[len(pairs) // 2]
    return [(unit * time, ms) for time, ms in pairs]


def model_agreement_table():
    """A table that compares modelled with measured kernel times, over the shapes that Nsight Compute timed."""
    table = tables.read_measured_table("occupancy/modelled")
    rows = []
    compared = {
        f"`{task}`": (
            judged,
            [
                (float(row["modelled_us"]), float(row["measured_us"]))
                for row in table.where(task=task)
            ],
        )
        for task, judged in JUDGED.items()
    }
    compared["`orbits`, by evenness"] = ("", assignment_vs_measured_time_pairs())
    for name, (judged, pairs) in compared.items():
        count = len(pairs)
        first, second = (rank_of_each([pair[k] for pair in pairs]) for k in (0, 1))
        apart = sum((a - b) ** 2 for a, b in zip(first, second, strict=True))
        rank = 1 - 6 * apart / (count * (count**2 - 1))
        off = sum(abs(model / ncu - 1) for model, ncu in pairs) / count
        rows.append([name, str(count), f"{rank:.2f}", f"{100 * off:.0f} %", judged])
    head = ["kernel", "shapes", "rank correlation", "mean difference", "checked by"]
    return markdown_table(head, rows, numeric=[1, 2, 3])


def memory_space_times_table(*forms):
    """A table of measured times to compare kinds of memory: a row for each task that has these forms, a column for each
    form."""
    times = {}
    for row in tables.read_measured_table("h200-memories").rows:
        times.setdefault(row["task"], {})[row["form"]] = float(row["median_ms"]) * 1e3
    return markdown_table(
        ["task", *forms],
        [
            [task.replace(" 1 places", " 1 place"), *(f"{us[form]:.1f} µs" for form in forms)]
            for task, us in times.items()
            if set(us) == set(forms)
        ],
        numeric=range(1, len(forms) + 1),
    )


def authors_time_predictions_table(most=None):
    """A table of ratios predicted before the measurement and of the measured ones: the `most` rows whose prediction was
    farthest off, or all rows."""
    rows = []
    for row in tables.read_measured_table("occupancy/predicted").rows:
        table = tables.read_measured_table(f"h200-{row['table']}")

        def median_ms(which, row=row, table=table):
            wanted = {"task": row[f"{which}_task"], "form": row[f"{which}_form"], "n": row["n"]}
            if row[f"{which}_shape"]:
                wanted["shape"] = row[f"{which}_shape"]
            return table.value("median_ms", **wanted)

        names = []
        for which in ("first", "second"):
            parts = [row[f"{which}_{k}"] for k in ("task", "form", "shape")]
            names.append(", ".join(part for part in parts if part))
        ratio = median_ms("first") / median_ms("second")
        came = [row["predicted"], f"{ratio:.2f}", row["because"], row["looking_back"]]
        rows.append((row["predicted"], ratio, [" / ".join(names), *came]))
    head = ["first / second", "predicted", "measured", "predicted because", "looking back"]
    return markdown_table(head, [cells for *_, cells in worst_predictions(rows, most)], numeric=[1, 2])


MAKERS = {
    "occupancy_limits": occupancy_limits_table,
    "occupancy_shapes": occupancy_shapes_table,
    "occupancy_copies": copy_times_by_occupancy_table,
    "occupancy_registers": times_by_register_limit_table,
    "occupancy_modelled": model_agreement_table,
    "occupancy_predicted": authors_time_predictions_table,
    "memory_kinds": memory_space_times_table,
}
