import itertools

import pytest
from graded import graded

from handouts import markdown
from lab32 import ROOT, tables
from lab32.labs.coalescing import notebook as coalescing

COLUMNS = ["kernel", "metric", "value", "unit", "property_of", "reason", "source", "section"]
DOCUMENTED = sorted(
    p.stem for p in (ROOT / "data/documented").glob("*.csv") if p.stem != "launches"
)


def test_there_are_documented_tables():
    assert {"add1_chart", "add1_l1", "add1_l2", "add1_dram", "reduce_8", "reduce_32"} <= set(
        DOCUMENTED
    )


@pytest.mark.parametrize("name", DOCUMENTED)
def test_documented_rows_are_complete(name):
    table = tables.read_documented_table(name)
    assert table.columns == COLUMNS
    for row in table.rows:
        assert all(row[column] for column in COLUMNS), row
        assert row["property_of"] in ("program", "card", "refuted"), row
        float(row["value"])


def test_each_counted_kernel_has_its_launch():
    launches = {row["kernel"] for row in tables.read_documented_table("launches").rows}
    for name in DOCUMENTED:
        for row in tables.read_documented_table(name).rows:
            if row["metric"].startswith("l1tex"):
                assert row["kernel"] in launches, row


def test_documented_numbers_are_consistent():
    """The arithmetic of the source document: a warp is 32 threads, a sector 32 bytes."""
    l1 = tables.read_documented_table("add1_l1")
    launch = tables.read_documented_table("launches").where(kernel="add1")[0]
    warps = int(launch["grid"]) * int(launch["block"]) // 32
    for op, streams in (("ld", 2), ("st", 1)):
        name = "l1tex__t_{}_pipe_lsu_mem_global_op_" + op + ".sum"
        requests, sectors, moved = (
            l1.value("value", metric=name.format(what)) for what in ("requests", "sectors", "bytes")
        )
        assert requests == streams * warps
        assert sectors == 4 * requests
        assert moved == 32 * sectors
    for threads in (8, 32):
        table = tables.read_documented_table(f"reduce_{threads}")
        launch = tables.read_documented_table("launches").where(kernel=table.rows[0]["kernel"])[0]
        assert int(launch["block"]) == threads
        assert int(launch["grid"]) * threads == int(launch["elements"])
        name = "l1tex__t_{}_pipe_lsu_mem_global_op_ld.sum"
        assert table.value("value", metric=name.format("requests")) == int(launch["grid"])
        assert (
            table.value("value", metric=name.format("sectors")) == int(launch["elements"]) * 4 // 32
        )


def test_measured_tables_name_their_source():
    for path in sorted((ROOT / "data/measured").glob("*.csv")):
        table = tables.read_data_table(path)
        assert {"device", "driver", "date", "command"} <= set(table.head), path
        assert table.rows, path


def test_the_hardware_counts_what_the_documents_say():
    """On an H200 the documented launches have the requests and sectors that the program implies."""
    counters = tables.read_measured_table("h200-coalescing-counters")
    compared = 0
    for name in ("add1_l1", "add2", "add3", "add4", "add5"):
        for row in tables.read_documented_table(name).rows:
            if row["property_of"] != "program" or not row["metric"].startswith("l1tex__average_t"):
                continue
            op = "ld" if "_ld." in row["metric"] else "st"
            sectors, requests = (
                counters.value(
                    "value", task=row["kernel"], n=1 << 23, block=64,
                    metric=f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum",
                )
                for what in ("sectors", "requests")
            )  # fmt: skip
            assert sectors / requests == float(row["value"]), row
            compared += 1
    assert (
        compared == 8
    )  # two directions of five kernels, without add2's loads and add4's stores


def test_the_simulator_counts_what_the_hardware_counts():
    """The reference solution, graded now, has exactly the counters of an H200."""
    figures = {}
    for test in graded("coalescing", "solutions").lab("coalescing").tests:
        figures[test.name] = test.figures
    hardware = tables.read_measured_table("h200-coalescing-counters")
    lsu = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
    directions = {"load": "ld", "store": "st"}

    applied = next(values for name, values in figures.items() if "add1" in name)
    for kernel in coalescing.KERNELS:
        for what, (way, op) in itertools.product(("requests", "sectors"), directions.items()):
            metric = lsu.format(what, op)
            counted = hardware.value("value", task=kernel, n=1 << 20, block=64, metric=metric)
            assert applied[f"{kernel} {way} {what}"] == counted, (kernel, way, what)

    for task in coalescing.TASKS:
        ours = next(v for n, v in figures.items() if f" {task}:" in n and "sectors" in v)
        n = 1 << (18 if task == "centre" else 20)
        for what in ("requests", "sectors"):
            counted = sum(
                hardware.value(
                    "value", task=task, form="optimised", n=n, metric=lsu.format(what, op)
                )
                for op in directions.values()
            )
            assert ours[what] == counted, (task, what)


def test_a_table_is_read_again_when_it_has_changed(tmp_path):
    file = tmp_path / "times.csv"
    file.write_text("# gpu: a card\nn,ms\n1,2\n")
    table = tables.read_data_table(file)
    table.rows[0]["ms"] = "changed by a caller"
    assert tables.read_data_table(file).rows == [{"n": "1", "ms": "2"}]
    file.write_text("# gpu: a card\nn,ms\n1,2\n2,4\n")
    assert tables.read_data_table(file).value("ms", n=2) == 4


def test_value_requires_exactly_one_row():
    table = tables.read_documented_table("add1_l1")
    with pytest.raises(LookupError, match="0 rows have"):
        table.value("value", metric="no such")


def test_answers_about_time_match_the_measurements():
    """A question's answer is the option nearest to the measured ratio."""
    limits = tables.read_rubric_of_lab("coalescing")
    table = tables.read_measured_table("h200-coalescing")

    def ms(task, form):
        return table.value("median_ms", task=task, form=form, n=1 << 26)

    for row, question, ratio in (
        ("add2", "add2_time", ms("add2", "add2/256") / ms("add1", "add1/256")),
        ("points", "length_time", ms("length", "aos") / ms("length", "soa")),
    ):
        asked = limits[row]["questions"][question]
        assert min(asked["options"], key=lambda option: abs(option - ratio)) == asked["answer"]


def test_each_graded_task_has_a_measured_effect():
    """The given form of every graded task takes longer than the optimised one."""
    table = tables.read_measured_table("h200-coalescing")
    for task in ("scale", "fields", "push", "centre", "axpy"):
        n = (1 << 26) // (4 if task == "centre" else 1)
        given, optimised = (
            table.value("median_ms", task=task, form=f, n=n) for f in ("given", "optimised")
        )
        assert given > 1.1 * optimised, task


@pytest.mark.parametrize("path", sorted((tables.DATA / "measured").glob("h200-*.csv")))
def test_the_description_of_a_table_fits_a_notebook(path):
    lines = tables.table_description_text(table := tables.read_data_table(path)).splitlines()
    assert max(map(len, lines)) <= 88
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == list(table.head)
    assert "cub" not in table.head or "cub: 3.0.1" in lines


def test_numbers_are_formatted_for_people():
    assert [markdown.text_with_two_significant_digits(x) for x in (1.0, 0.5, 1.5e-5, 7.4e-10)] == ["1", "0.5", "1.5e-5", "7.4e-10"]
    assert markdown.grouped_number_with_plural_unit("2097152", "sector") == "2,097,152 sectors"
    assert markdown.grouped_number_with_plural_unit("1", "wavefront") == "1 wavefront"
    assert markdown.grouped_number_with_plural_unit("4", "sector/request") == "4 sectors/request"
    assert markdown.grouped_number_with_plural_unit("216536912751.68", "B/s") == "216.54 GB/s"
    assert (markdown.grouped_number_with_plural_unit("33.37", "%"), markdown.grouped_number_with_plural_unit("67.11", "MB")) == ("33.37 %", "67.11 MB")
    assert markdown.markdown_table(["a", "b"], [["x", ""]], numeric=[1]).endswith("| x | – |")
    row = ["4138", "4138", "1304.6 µs", "983.04", "16384 x 2"]
    assert markdown.markdown_table("abcde", [row], numeric=range(1, 5)).endswith(
        "| 4138 | 4,138 | 1,304.6 µs | 983.04 | 16384 x 2 |"
    )
