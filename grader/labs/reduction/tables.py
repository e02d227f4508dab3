"""The tables of handouts/reduction.md and of its notes."""

from handouts.markdown import markdown, number
from lab32 import tables
from lab32.labs.reduction.notebook import (
    LECTURE,
    SIZES,
    STEPS,
    TUTORIAL,
    TUTORIAL_FORMS,
    VERSIONS,
    bandwidths,
    documented,
    speed_ups,
    times,
)


def ratio_or_blank(values, name):
    return f"{values[name]:.2f}" if name in values else ""


def g80_ladder(device):
    """The SYSU Lecture's table, and the same kernels on today's card, at the same size."""
    then = [documented(m) for m in ("time", "bandwidth", "step speed-up", "cumulative speed-up")]
    today = {v: ms for v, ms in times(LECTURE, table=f"{device}-reduction").items() if v != "CUB"}
    step, cumulative = speed_ups(today)
    rates = bandwidths(today)
    rows = []
    for v in VERSIONS:
        old = [f"{then[0][v]:.3f} ms", f"{then[1][v]:.3f}"] if v in then[0] else ["", ""]
        rows.append(
            [
                v,
                *old,
                *(ratio_or_blank(values, v) for values in then[2:]),
                f"{1000 * today[v]:.1f} µs",
                f"{rates[v]:.0f}",
                ratio_or_blank(step, v),
                ratio_or_blank(cumulative, v),
            ]
        )
    head = ["", "G80", "GB/s", "step", "all", "H200", "GB/s", "step", "all"]
    return markdown(head, rows, numeric=range(1, 9))


SETS = {
    "remainder": ["v1", "v1, mask", "v2", "v3", "empty, one int per thread"],
    "loads": ["one load at a time", "four loads", "four loads, int4", "pieces"],
}


def reduced(device, n, chosen):
    """Times of a set of forms."""
    table = tables.measured(f"{device}-reduction")
    rows = []
    for form in SETS[chosen]:
        (row,) = table.where(task="int", form=form, n=n)
        rows.append(
            [form, f"{float(row['median_ms']):.4f} ms", row["useful_gb_s"], row["times_copy"]]
        )
    return markdown(
        ["form", "time", "GB/s", "time / copy's time"], rows, numeric=[1, 2, 3]
    )


def by_block(device, n):
    """The two-load forms, one row for each size of block."""
    table = tables.measured(f"{device}-reduction")
    forms = ["empty", "no tree", "v4", "v5", "v6"]
    rows = []
    for threads in (128, 256, 512, 1024):
        cells = []
        for form in forms:
            found = table.where(
                task="int", n=n, form=form if threads == 128 else f"{form}, {threads} threads"
            )
            cells.append(f"{float(found[0]['median_ms']):.3f} ms" if found else "")
        rows.append([str(threads), f"{int(n) // (2 * threads):,}", *cells])
    head = ["threads", "blocks", "empty", "loads alone", "v4", "v5", "v6"]
    return markdown(head, rows, numeric=range(7))


COUNTERS = {
    "instructions per warp": lambda m: m["smsp__inst_executed.sum"] / m["sm__warps_launched.sum"],
    "lanes per warp instruction": lambda m: m["smsp__thread_inst_executed_per_inst_executed.ratio"],
    "wavefronts": lambda m: m["memory_l1_wavefronts_shared"],
    "ideal": lambda m: m["memory_l1_wavefronts_shared_ideal"],
    "sectors per load": lambda m: m["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
    / m["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
    "L1 hits": lambda m: m["l1tex__t_sector_hit_rate.pct"],
    "of peak instructions": lambda m: m["smsp__issue_active.avg.pct_of_peak_sustained_active"],
    "of peak DRAM": lambda m: m["dram__throughput.avg.pct_of_peak_sustained_elapsed"],
}
SHOWN = {
    "instructions per warp": "{:.0f}",
    "lanes per warp instruction": "{:.1f}",
    "wavefronts": "{:,.0f}",
    "ideal": "{:,.0f}",
    "sectors per load": "{:.3g}",
    "L1 hits": "{:.0f} %",
    "of peak instructions": "{:.0f} %",
    "of peak DRAM": "{:.0f} %",
}
COLUMNS = {
    "tree": [
        "instructions per warp", "wavefronts", "ideal", "of peak instructions", "of peak DRAM",
    ],
    "loads": ["instructions per warp", "sectors per load", "L1 hits", "of peak DRAM"],
    "warp": ["instructions per warp", "wavefronts"],
}
COUNTED = {"tree": ["v1", "v1, mask", *STEPS[1:], "v8"], "loads": SETS["loads"] + ["v8"],
           "warp": ["v5", "v5, volatile", "v5, __syncwarp"]}  # fmt: skip


def hardware(form, task="int", n=LECTURE, device="h200"):
    """What Nsight Compute counted for a form: {metric: value}."""
    rows = tables.measured(f"{device}-reduction-counters").where(task=task, form=form, n=n)
    return {row["metric"]: float(row["value"]) for row in rows}


def reduction_counters(device, chosen):
    rows = []
    for form in COUNTED[chosen]:
        counted = hardware(form, device=device)
        rows.append(
            [form] + [SHOWN[name].format(COUNTERS[name](counted)) for name in COLUMNS[chosen]]
        )
    return markdown(["form", *COLUMNS[chosen]], rows, numeric=range(1, 6))


def beside_cub(device):
    """v7 and v8 beside CUB, warm and cold, at all sizes."""
    table = f"{device}-reduction"
    rows = []
    for task in ("int", "float", "int, warm", "float, warm"):
        for n in SIZES:
            ms = times(n, task, table)
            us = [f"{1000 * ms[form]:.2f}" for form in ("v7", "v8", "CUB")]
            copied = ""
            if "warm" not in task:
                copied = tables.measured(table).where(task=task, form="v8", n=n)[0]["times_copy"]
            kind = task if "warm" in task else f"{task}, cold"
            rate = f"{bandwidths(ms, n)['v8']:.0f}"
            rows.append([kind, f"2^{n.bit_length() - 1}", *us, f"{ms['CUB'] / ms['v8']:.3f}", rate,
                         copied])  # fmt: skip
    head = ["", "n", "v7, µs", "v8, µs", "CUB, µs", "CUB / v8", "v8, GB/s", "v8 / copy"]
    return markdown(head, rows, numeric=range(1, 8))


def fixed_part(times):
    """Of {n: ms}: what a sum takes however small it is, from the smallest and the largest n, taking
    time to be fixed + n * each."""
    small, large = min(times), max(times)
    each = (times[large] - times[small]) / (large - small)
    return times[small] - small * each


def amdahl(device):
    """How much of the time does not shrink with the input: the SYSU Lecture's v7, and v8."""
    g80 = tables.documented("reduction_g80")
    large = 1 << 25
    rate = g80.value("value", kernel="v7", metric="bandwidth, 32M ints")
    then = {LECTURE: documented("time")["v7"], large: 4 * large / rate / 1e6}
    now = {n: times(n, table=f"{device}-reduction")["v8"] for n in SIZES}
    rows = []
    for name, found in (("v7 on a G80 (documented)", then), ("v8 on an H200, L2 cold", now)):
        fixed = fixed_part(found)
        for n, ms in found.items():
            time = f"{ms:.3f} ms" if ms > 0.1 else f"{1000 * ms:.1f} µs"
            rows.append(
                [name, f"2^{n.bit_length() - 1}", time, f"{4 * n / ms / 1e6:,.0f}",
                 f"{100 * fixed / ms:.0f} %"]
            )  # fmt: skip
    return markdown(["", "n", "time", "GB/s", "of it fixed"], rows, numeric=range(1, 5))


def lanes(device, task):
    """Blocks of any size, or branches: the same work for each of 2^22 threads."""
    table = tables.measured(f"{device}-reduction")
    rows = []
    for row in table.where(task=task):
        counted = hardware(row["form"], task, row["n"], device)
        active = counted["smsp__thread_inst_executed_per_inst_executed.ratio"]
        warps = f"{counted['sm__warps_launched.sum']:,.0f}"
        rows.append([row["form"], warps, f"{active:.1f}", f"{float(row['median_ms']):.3f} ms"])
    return markdown(
        ["form", "warps", "lanes per warp instruction", "time"], rows, numeric=[1, 2, 3]
    )


# ---- the Reduce Tutorial's versions --------------------------------------------------------------



TUTORIAL_NAMES = ["no divergence", "vectorised", "coarsened", "shuffle"]


def tutorial_documented():
    """The Reduce Tutorial's comparison as printed, and what each row depends on."""
    table = tables.documented("reduce_ladder")
    rows = []
    for metric in dict.fromkeys(row["metric"] for row in table.rows):
        found = [table.where(kernel=kernel, metric=metric)[0] for kernel in TUTORIAL_FORMS]
        whose = dict.fromkeys(row["property_of"] for row in found)
        unit = found[0]["unit"]
        values = [number(row["value"]) for row in found]
        rows.append([f"{metric} ({unit})", *values, ", ".join(f"the {w}" for w in whose)])
    head = ["documented", *TUTORIAL_NAMES, "a property of"]
    return markdown(head, rows, numeric=range(1, 5))


def tutorial_measured(device):
    """The ladder on today's card: blocks and time, by the number of blocks."""
    rows = []
    for form, blocks, ms, copy in tutorial_blocks(device):
        rows.append([form, f"{blocks:,.0f}", f"{ms:.3f} ms", f"{1e6 * ms / blocks:.2f} ns", copy])
    head = ["form", "blocks", "time", "time / blocks", "time / copy's time"]
    return markdown(head, rows, numeric=range(1, 5))


def tutorial_blocks(device="h200"):
    """(form, blocks, ms, times a copy) of the Reduce Tutorial's versions, most blocks first."""
    found = []
    for row in tables.measured(f"{device}-reduction").where(task="tutorial"):
        blocks = hardware(row["form"], "tutorial", TUTORIAL, device)["launch__grid_size"]
        found.append((row["form"], blocks, float(row["median_ms"]), row["times_copy"]))
    return sorted(found, key=lambda entry: -entry[1])


def tutorial_counters(device):
    """The Reduce Tutorial's rows that Nsight Compute gives, on today's card."""
    forms = dict(zip(TUTORIAL_NAMES, TUTORIAL_FORMS.values()))
    metrics = {
        "Duration": ("gpu__time_duration.sum", 1e-6, "{:.2f} ms"),
        "SM Active Cycles": ("sm__cycles_active.avg", 1, "{:,.0f}"),
        "DRAM Throughput": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", 1, "{:.2f} %"),
        "Memory Throughput": (
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 1, "{:.2f} %",
        ),
        "Compute Throughput": ("sm__throughput.avg.pct_of_peak_sustained_elapsed", 1, "{:.2f} %"),
        "Threads": ("launch__thread_count", 1, "{:,.0f}"),
    }  # fmt: skip
    rows = []
    for name, (metric, scale, text) in metrics.items():
        values = [hardware(form, "tutorial", TUTORIAL, device)[metric] for form in forms.values()]
        rows.append([name, *(text.format(scale * value) for value in values)])
    return markdown(["measured", *forms], rows, numeric=range(1, 5))


def wrong_steps(device):
    rows = [
        [row["form"], f"{int(row['blocks']):,}", f"{int(row['wrong']):,}"]
        for row in tables.measured(f"{device}-reduction-steps").rows
    ]
    return markdown(["between the steps", "blocks", "wrong sums"], rows, numeric=[1, 2])


def host_times(device):
    rows = []
    for row in tables.measured(f"{device}-reduction-host").rows:
        cells = [f"{float(row[k]):.2f} ms" for k in ("first_ms", "median_ms", "min_ms", "max_ms")]
        rows.append([row["what"], f"{int(row['bytes']):,}", *cells])
    head = ["call", "bytes", "the first", "median of 10", "shortest", "longest"]
    return markdown(head, rows, numeric=range(1, 6))


MAKERS = {
    "g80_ladder": g80_ladder,
    "reduced": reduced,
    "by_block": by_block,
    "reduction_counters": reduction_counters,
    "beside_cub": beside_cub,
    "lanes": lanes,
    "amdahl": amdahl,
    "tutorial_documented": tutorial_documented,
    "tutorial_measured": tutorial_measured,
    "tutorial_counters": tutorial_counters,
    "wrong_steps": wrong_steps,
    "host_times": host_times,
}
