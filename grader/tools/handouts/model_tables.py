"""The tables of handouts/model-notes.md: the model's errors against the measurements."""

from handouts.markdown import markdown_table
from lab32 import tables

SETS = {"fit": "fitted", "labs": "labs, fitted", "apart": "held out"}
STATES = ("cold", "warm")
PARTS = [
    "device memory",
    "L2",
    "L1",
    "shared memory",
    "issue",
    "atomics",
    "block launch",
    "latency",
]
# {Nsight Compute's throughput metric: the model's name for that part of the GPU}
THROUGHPUTS = {
    "gpu__dram_throughput": ["device memory"],
    "lts__throughput": ["L2", "atomics"],
    "l1tex__data_pipe_lsu_wavefronts": ["L1", "shared memory"],
    "sm__throughput": ["issue"],
}
LSU = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"


def measured_launch_rows_by_id(kind="", gpu="h200"):
    """{id: row} of one of a GPU's two records: times, or "-counters"."""
    names = (f"{gpu}-model{kind}", f"{gpu}-labs{kind}")
    return {row["id"]: row for name in names for row in tables.read_measured_table(name).rows}


def modelled_launches():
    """Every launch of the sets in both states of L2: measured and modelled microseconds."""
    measured = measured_launch_rows_by_id()
    shapes = {row["id"]: row for row in tables.read_measured_table("model/launches").rows}
    found = []
    for row in tables.read_modelled_table("h200").rows:
        if row["set"] not in SETS:
            continue
        launch = dict(row, shape=shapes[row["id"]])
        launch["measured"] = float(measured[row["id"]][f"{row['l2']}_us"])
        launch["modelled"] = float(row["modelled_us"])
        launch["error"] = launch["modelled"] / launch["measured"] - 1
        found.append(launch)
    return found


def ranks_of(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    return [place for _, place in sorted((i, place) for place, i in enumerate(order))]


def correlation(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    ab = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    aa, bb = sum((x - mean_a) ** 2 for x in a), sum((y - mean_b) ** 2 for y in b)
    return ab / (aa * bb) ** 0.5


def first_model_predictions():
    """The labs as the model predicted them before it was changed for any of them."""
    measured = measured_launch_rows_by_id()
    found = []
    for row in tables.read_measured_table("model/predicted").rows:
        launch = {"modelled": float(row["predicted_us"])}
        launch["measured"] = float(measured[row["id"]][f"{row['l2']}_us"])
        launch["error"] = launch["modelled"] / launch["measured"] - 1
        found.append(launch)
    return found


def prediction_error_cells(group):
    errors = sorted(abs(launch["error"]) for launch in group)
    rank = correlation(
        ranks_of([launch["measured"] for launch in group]),
        ranks_of([launch["modelled"] for launch in group]),
    )
    near = sum(error <= 0.25 for error in errors) / len(errors)
    return [
        str(len(group)),
        f"{100 * sum(errors) / len(errors):.1f} %",
        f"{100 * errors[len(errors) // 2]:.1f} %",
        f"{100 * near:.0f} %",
        f"{rank:.3f}",
    ]


def errors_table():
    rows = []
    for name, title in SETS.items():
        both = [launch for launch in modelled_launches() if launch["set"] == name]
        kernels = len({launch["kernel"] for launch in both})
        for state in STATES:
            group = [launch for launch in both if launch["l2"] == state]
            if group:
                rows.append([f"{title} ({kernels} kernels)", state, *prediction_error_cells(group)])
    rows.append(["labs, as first predicted", "", *prediction_error_cells(first_model_predictions())])
    head = ["launches", "L2", "number", "mean error", "median", "within 25 %", "rank correlation"]
    return markdown_table(head, rows, numeric=range(2, 7))


LENGTHS = [("under 5 µs", 0, 5), ("5 to 50 µs", 5, 50), ("longer", 50, float("inf"))]


def kernel_durations_and_errors(gpu, modelled, sets):
    """gpu__time_duration.sum of launches with an empty L2: [(measured, error)]."""
    counted = measured_launch_rows_by_id("-counters", gpu)
    for row in tables.read_modelled_table(modelled).rows:
        if row["l2"] == "cold" and row["set"] in sets:
            yield measured_duration_and_model_error(row, counted)


def measured_duration_and_model_error(row, counted):
    microseconds = float(counted[row["id"]]["gpu__time_duration.sum"]) / 1e3
    return microseconds, float(row["modelled_kernel_us"]) / microseconds - 1


ROUNDS = range(2, 11)  # the model has since been fitted to round 1
LAST = ROUNDS[-1]  # the model has not changed since this round was measured


def blind_round_durations_and_errors(number):
    """Like kernel_durations_and_errors(), for the launches of a round with their predictions from before the measurement."""
    counted = measured_launch_rows_by_id("-counters")
    for row in tables.read_modelled_table("h200-blind").where(round=number):
        if row["id"] in counted:  # other launches cannot be measured (data/measured/model/README.md)
            yield measured_duration_and_model_error(row, counted)


def error_cells(errors):
    sizes = sorted(map(abs, errors))
    return [
        str(len(errors)),
        f"{100 * sum(sizes) / len(sizes):.1f} %",
        f"{100 * sum(errors) / len(errors):+.1f} %",
        f"{100 * sizes[len(sizes) * 9 // 10]:.0f} %",
    ]


def blind_prediction_rounds_table():
    """Durations of the kernel alone with a cold L2: errors of each round's blind predictions and of today's model."""
    groups = [(str(number), blind_round_durations_and_errors(number)) for number in ROUNDS]
    groups.append(("2 to 10, now", kernel_durations_and_errors("h200", "h200", ("apart",))))
    rows = []
    for name, group in groups:
        errors = [error for _, error in group]
        count, mean, _, tenth = error_cells(errors)
        median = sorted(map(abs, errors))[len(errors) // 2]
        rows.append([name, count, mean, f"{100 * median:.1f} %", tenth])
    head = ["round", "launches", "mean error", "median", "one in ten exceeds"]
    return markdown_table(head, rows, numeric=range(1, 5))


def blind_prediction_errors_table():
    """Blind predictions of all rounds, for the kernel alone, grouped by duration."""
    found = [(us, us * (1 + error)) for us, error in blind_round_durations_and_errors(LAST)]
    rows = []
    for title, least, most in LENGTHS:
        part = [(us, ours) for us, ours in found if least <= us < most]
        rank = correlation(ranks_of([us for us, _ in part]), ranks_of([ours for _, ours in part]))
        rows.append([title, *error_cells([ours / us - 1 for us, ours in part]), f"{rank:.2f}"])
    head = [
        "the kernel took",
        "number",
        "mean error",
        "mean, with its sign",
        "one in ten is off by",
        "rank correlation",
    ]
    return markdown_table(head, rows, numeric=range(1, 6))


def h100_errors_table():
    """All launches on an H100: as predicted before the first measurement, and by today's model."""
    measured = measured_launch_rows_by_id("", "h100")
    rows = []
    for modelled, name in [
        ("h100-blind", "H100, blind"),
        ("h100", "H100, corrected"),
        ("h200", "H200"),
    ]:
        gpu = modelled[:4]
        known = measured if gpu == "h100" else measured_launch_rows_by_id()
        events = [
            (float(known[row["id"]]["cold_us"]), float(row["modelled_us"]))
            for row in tables.read_modelled_table(modelled).rows
            if row["l2"] == "cold"
        ]
        rank = correlation(ranks_of([us for us, _ in events]), ranks_of([us for _, us in events]))
        rows.append(
            [
                name,
                "as events see it",
                *error_cells([ours / us - 1 for us, ours in events]),
                f"{rank:.3f}",
            ]
        )
        found = list(kernel_durations_and_errors(gpu, modelled, ("micro", "fit", "test", "labs", "apart")))
        rows.append([name, "the kernel alone", *error_cells([e for _, e in found]), ""])
        for title, least, most in LENGTHS:
            rows.append([name, title, *error_cells([e for us, e in found if least <= us < most]), ""])
    head = [
        "card",
        "time",
        "number",
        "mean error",
        "mean, with its sign",
        "one in ten is off by",
        "rank correlation",
    ]
    return markdown_table(head, rows, numeric=range(2, 7))


# Counts that an access pattern has on every GPU.
SAME = {
    "requests of loads": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "requests of stores": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "sectors of loads": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "sectors of stores": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "sectors of additions without a result": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "sectors of atomics with one": "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "wavefronts of shared loads": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "wavefronts of shared stores": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "wavefronts of shared atomics": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "instructions": "smsp__inst_executed.sum",
}


def h100_h200_agreement_table():
    """Nsight Compute's counts of all launches on an H100 and on an H200, against the simulator's."""
    h100, h200 = measured_launch_rows_by_id("-counters", "h100"), measured_launch_rows_by_id("-counters")
    rows = []
    for title, metric in SAME.items():
        pairs = [(float(h100[i][metric]), float(h200[i][metric])) for i in h100]
        equal = sum(a == b for a, b in pairs)
        near = sum(abs(a - b) <= 0.01 * b for a, b in pairs)
        rows.append([title, f"{equal} of {len(pairs)}", f"{near} of {len(pairs)}"])
    return markdown_table(["count", "equal", "within 1 %"], rows, numeric=range(1, 3))


def errors_by_bottleneck_table():
    rows = []
    for part in PARTS:
        group = [launch for launch in modelled_launches() if launch["bottleneck"] == part]
        if group:
            rows.append([part, *prediction_error_cells(group)[:4]])
    head = ["modelled as bound by", "number", "mean error", "median", "within 25 %"]
    return markdown_table(head, rows, numeric=range(1, 5))


def worst_launches_table(count):
    rows = []
    for launch in sorted(modelled_launches(), key=lambda launch: -abs(launch["error"]))[: int(count)]:
        shape = launch["shape"]
        blocks = int(shape["grid_x"]) * int(shape["grid_y"])
        threads = int(shape["block_x"]) * int(shape["block_y"])
        rows.append(
            [
                f"`{launch['kernel']}`",
                f"{blocks:,} × {threads:,}",
                f"{SETS[launch['set']]}, {launch['l2']}",
                f"{launch['measured']:.1f} µs",
                f"{launch['modelled']:.1f} µs",
                f"{100 * launch['error']:+.0f} %",
                launch["bottleneck"],
            ]
        )
    head = ["kernel", "blocks × threads", "set, L2", "measured", "modelled", "error", "bound by"]
    return markdown_table(head, rows, numeric=range(3, 6))


def dominant_throughput_metric(counted):
    """The metric that is at 75 % of its peak or more, with all others 15 points lower; None if there is none."""
    ranked = sorted(
        ((float(counted[f"{m}.avg.pct_of_peak_sustained_elapsed"]), m) for m in THROUGHPUTS),
        reverse=True,
    )
    (most, metric), (second, _) = ranked[:2]
    return metric if most >= 75 and second <= most - 15 else None


def bottleneck_agreement_table():
    counted = measured_launch_rows_by_id("-counters")
    found = {metric: [] for metric in THROUGHPUTS}
    for launch in modelled_launches():
        metric = dominant_throughput_metric(counted[launch["id"]])
        if launch["l2"] == "cold" and metric:
            found[metric].append(launch["bottleneck"] in THROUGHPUTS[metric])
    rows = [
        [f"`{metric}`", " or ".join(THROUGHPUTS[metric]), f"{sum(same)} of {len(same)}"]
        for metric, same in found.items()
    ]
    every = [right for same in found.values() for right in same]
    rows.append(["all", "", f"{sum(every)} of {len(every)}"])
    head = ["Nsight Compute names", "the model's name for it", "agreement"]
    return markdown_table(head, rows, numeric=range(2, 3))


def counted_and_simulated_rows(name):
    """Counted and simulated rows of the launches of a set that move more than 16 MiB."""
    counted = measured_launch_rows_by_id("-counters")
    for row in tables.read_measured_table("model/simulated").rows:
        ncu = counted[row["id"]]
        sectors = sum(float(ncu[LSU.format(op)]) for op in ("ld", "st", "red", "atom"))
        if row["l2"] == "cold" and ncu["set"] == name and sectors * 32 > 16 << 20:
            yield ncu, row


def cache_hit_agreement_table():
    rows = []
    for name, title in SETS.items():
        pairs = list(counted_and_simulated_rows(name))

        def agreement_text(near, pairs=pairs):
            right = sum(near(ncu, ours) for ncu, ours in pairs)
            return f"{right} of {len(pairs)}"

        def hit_rate_agreement_predicate(metric, column):
            return lambda ncu, ours: abs(float(ncu[metric]) - float(ours[column])) <= 10

        def dram_bytes_agree(ncu, ours):
            there = sum(float(ncu[f"dram__bytes_{way}.sum"]) for way in ("read", "write"))
            here = float(ours["dram_read"]) + float(ours["dram_written"])
            return abs(here / there - 1) <= 0.1

        rows.append(
            [
                title,
                agreement_text(hit_rate_agreement_predicate("l1tex__t_sector_hit_rate.pct", "l1_percent")),
                agreement_text(hit_rate_agreement_predicate("lts__t_sector_hit_rate.pct", "l2_percent")),
                agreement_text(dram_bytes_agree),
            ]
        )
    head = [
        "launches",
        "L1 hit rate within 10 points",
        "L2 hit rate within 10 points",
        "bytes of device memory within 10 %",
    ]
    return markdown_table(head, rows, numeric=range(1, 4))


def instruction_count_errors_table():
    """Instructions estimated from the machine code, compared with the executed ones."""
    executed = {
        row_id: float(row["smsp__inst_executed.sum"]) for row_id, row in measured_launch_rows_by_id("-counters").items()
    }
    sets = {row["id"]: row["set"] for row in tables.read_measured_table("model/launches").rows}
    rows = []
    for name, title in SETS.items():
        errors = [
            abs(float(row["issue.all"]) / executed[row["id"]] - 1)
            for row in tables.read_measured_table("model/simulated").rows
            if row["l2"] == "cold" and sets[row["id"]] == name
        ]
        near = (sum(error <= bound for error in errors) for bound in (0.05, 0.15))
        rows.append([title, *(f"{n} of {len(errors)}" for n in near)])
    head = ["launches", "instructions within 5 %", "within 15 %"]
    return markdown_table(head, rows, numeric=range(1, 3))


def reduction_ladder_table():
    documented = tables.read_documented_table("reduce_ladder")
    rows, before = [], None
    for row in tables.read_modelled_table("rtx4060-ladder").rows:
        ms = float(row["modelled_ms"])
        theirs = documented.value("value", kernel=row["documented"], metric="Duration")
        steps = ["", ""]
        if before:
            steps = [f"{before[0] / theirs:.2f}", f"{before[1] / ms:.2f}"]
        rows.append(
            [f"`{row['kernel']}`", f"{theirs:.2f} ms", f"{ms:.2f} ms", *steps, row["bound"]]
        )
        before = (theirs, ms)
    head = ["step", "documented", "modelled", "speed-up, documented", "modelled", "bound by"]
    return markdown_table(head, rows, numeric=range(1, 5))


MAKERS = {
    "model_errors": errors_table,
    "model_rounds": blind_prediction_rounds_table,
    "model_blind": blind_prediction_errors_table,
    "model_h100": h100_errors_table,
    "model_counters": h100_h200_agreement_table,
    "model_by_part": errors_by_bottleneck_table,
    "model_worst": worst_launches_table,
    "model_bottlenecks": bottleneck_agreement_table,
    "model_instructions": instruction_count_errors_table,
    "model_caches": cache_hit_agreement_table,
    "model_ladder": reduction_ladder_table,
}
