"""Textures, surfaces, bulk copies and other blocks' shared memory: lab32 gives each measured pattern
(data/measured/moves) the counts of Nsight Compute, or reports that it does not count the pattern."""

import csv
import os
import re
import subprocess

import pytest

from lab32 import ROOT, tables

pytestmark = pytest.mark.slow

MEASURED = ROOT / "data" / "measured" / "moves"
ALL = "LAB32_TEST_ALL" in os.environ  # half a minute; else each twelfth row
SETS = ["known", "unseen", "more", "predicted"]
SURFACES = {"suld": "surface_op_ld", "sust": "surface_op_st"}
TEXTURE = "l1tex__t_{}_pipe_tex_mem_{}.sum"
REMOTE = "l1tex__t_{}_pipe_lsu_mem_dshared_op_{}.sum"
BULK = {"loads": "smsp__inst_executed_op_tma_ld.sum", "stores": "smsp__inst_executed_op_tma_st.sum",
        "arrived": "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum",
        "left": "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum"}
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"

# Forms without a known rule, and the number of rows that each skips.
UNKNOWN = {"texture": {"tex3:f32:linear": 42, "tex2:f32x4:linear": 42, "tex3:u8n:linear": 28,
                       "tex1:f32x4:linear": 28, "layers2:f32x4:linear": 28, "pitch:f32x4:linear": 28,
                       "grad:f32": 8, "grad:f32:linear": 8, "level:f32:mip": 12,
                       "level:f32:linear mip": 12, "tex2:f32:border": 6,
                       "tex2:f32:linear border": 6},
           "copy": {"block": 38, "box_many": 19}}


def measured(program):
    """The rows of all sets."""
    rows = []
    for name in SETS:
        rows += tables.read_data_table(MEASURED / f"h100-{program}-{name}.csv").rows
    return rows if ALL else rows[::12]


def metrics_of(program, op):
    """{column: metric} of a row."""
    if program == "texture":
        way = SURFACES.get(op[:4], "texture")
        return {c: TEXTURE.format(c, way) for c in ("requests", "sectors")}
    if not op.startswith("d_"):
        return BULK
    kind = op[2:4] if op.startswith(("d_ld", "d_st")) else "atom"
    return {"requests": REMOTE.format("requests", kind), "sectors": REMOTE.format("sectors", kind),
            "wavefronts": WAVEFRONTS.format(kind)}


def simulated(program, rows, folder):
    """For each row the metrics that lab32 reports, and whether it reports them without a mark."""
    patterns, table = folder / "patterns.csv", folder / "counted.csv"
    patterns.write_text("".join(f"{r['op']},{r['mask']},{r['points']}\n" for r in rows), encoding="utf-8")
    names = sorted({m for r in rows for m in metrics_of(program, r["op"]).values()})
    done = subprocess.run(
        [ROOT / "build" / "lab32", "profile", ROOT / "grader" / "tools" / "measure" / "moves" / f"{program}_patterns.cu",
         "--metrics", ",".join(names), "--csv", table, "--", patterns, "0", str(len(rows))],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [{} for _ in rows]
    with open(table, encoding="utf-8") as f:
        for line in csv.DictReader(f):
            found[int(line["ID"])][line["Metric Name"]] = line["Metric Value"].replace(",", "")
    certain = [True] * len(rows)
    for part in re.split(r"^launch ", done.stdout, flags=re.MULTILINE)[1:]:
        certain[int(part.split(":")[0])] = "PTX-level" not in part
    return found, certain


@pytest.mark.parametrize("program", ["texture", "copy"])
def test_every_pattern_is_counted_as_a_gpu_counts_it(program, tmp_path):
    rows = measured(program)
    found, certain = simulated(program, rows, tmp_path)
    wrong, left_out = [], {}
    for row, got, sure in zip(rows, found, certain):
        names = metrics_of(program, row["op"])
        if any(got[m] == "n/a" for m in names.values()):
            left_out[row["op"]] = left_out.get(row["op"], 0) + 1
            continue
        if not sure:  # 64-bit atomics
            assert row["op"] in ("d_add64", "d_exch64"), row
            continue
        differs = {c: (got[m], row[c]) for c, m in names.items() if got[m] != row[c]}
        if differs:
            wrong.append((row["op"], row["mask"], row["points"], differs))
    assert not wrong
    if ALL:
        assert left_out == UNKNOWN[program]
    assert left_out.keys() <= UNKNOWN[program].keys()
