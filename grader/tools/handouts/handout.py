"""Regenerates the tables in prose between markers from data/.

    <!-- table: documented/add1_l1 -->
    ... replaced ...
    <!-- end -->

A marker may choose rows by their first cell, or by their first cells in sequence:

    <!-- table: beside_cub h200 | int, cold 2^20 | int, cold 2^28 -->

python -m handouts.handout [FILE...] rewrites the files; with --check it only reports outdated tables.
"""

import argparse
import re
import sys
from pathlib import Path

from handouts import model_tables, translation
from handouts.markdown import grouped_number_with_plural_unit, markdown_table
from handouts.predictions import worst_predictions
from lab32 import ROOT, lab_times, labs, tables

FILES = ["README.md", "handouts/*.md", "handouts/zh/*.md", "data/measured/*/README.md"]
MARKED = re.compile(r"(<!-- table: (?P<name>.*?) -->\n).*?(<!-- end -->)", re.DOTALL)

# What a measured value depends on, as the handouts word it. "Neither" means that it is wrong on every card.
PROPERTY = {
    "program": "the program",
    "card": "the card",
    "refuted": "**neither**",
}


def documented_values_as_markdown(name):
    rows = []
    for row in tables.read_documented_table(name).rows:
        what = row["metric"] if row["metric"].count("__") == 0 else f"`{row['metric']}`"
        reason = re.sub(r"(?<![\w.^,])\d{5,}(?![\w.])", lambda n: f"{int(n[0]):,}", row["reason"])
        value = grouped_number_with_plural_unit(row["value"], row["unit"])
        rows.append([what, value, f"{PROPERTY[row['property_of']]}; {reason}"])
    return markdown_table(["documented", "value", "a property of"], rows, numeric=[1])


def guide_requests_and_sectors_table(*names):
    """Requests and sectors of several documented kernels, in one table."""
    ld = "l1tex__t_{}_pipe_lsu_mem_global_op_ld.sum"
    launches = tables.read_documented_table("launches")
    rows = []
    for name in names:
        table = tables.read_documented_table(name)
        kernel = table.rows[0]["kernel"]
        shape = launches.where(kernel=kernel)[0]
        counted = [table.value("value", metric=ld.format(w)) for w in ("requests", "sectors")]
        numbers = [f"{int(n):,}" for n in counted] + [f"{counted[1] / counted[0]:g}"]
        launch = f"{int(shape['grid']):,} × {shape['block']}"
        rows.append([f"`{kernel}`", launch, *numbers])
    head = ["kernel", "blocks × threads", "load requests", "load sectors", "sectors per request"]
    return markdown_table(head, rows, numeric=[1, 2, 3, 4])


def measured_ratio(table, first, second, n):
    def median_ms(task_and_form):
        task, _, form = task_and_form.partition(":")
        if n == "largest":
            rows = table.where(task=task, form=form)
            return float(max(rows, key=lambda row: int(row["n"]))["median_ms"])
        size = int(n) // 4 if task == "centre" else n
        return table.value("median_ms", task=task, form=form or task, n=size)

    return median_ms(first) / median_ms(second)


def predicted_and_measured_ratios_table(device, lab, n, most=None):
    """Ratios predicted before the measurement, with the measured ones: the `most` rows whose prediction was farthest
    off, or all rows."""
    table = tables.read_measured_table(f"{device}-{lab}")
    rows = []
    for row in tables.read_measured_table(f"{lab}/predicted").rows:
        names = " / ".join(row[k].replace(":", ", ") for k in ("first", "second"))
        reached = measured_ratio(table, row["first"], row["second"], n)
        cells = [names, row["predicted"], f"{reached:.2f}", row["why"], row["afterwards"]]
        rows.append((row["predicted"], reached, cells))
    head = [
        "first form / second form",
        "predicted",
        "measured",
        "predicted because",
        "looking back",
    ]
    return markdown_table(head, [cells for *_, cells in worst_predictions(rows, most)], numeric=[1, 2])


def golden_text_file(name):
    """The golden text grader/labs/LAB/golden/skeleton.txt for "LAB-skeleton"."""
    lab, _, state = name.rpartition("-")
    return ROOT / "grader/labs" / lab / "golden" / f"{state}.txt"


def golden_report_excerpt(name, *title):
    """The output of `make grade` from the grader's golden text: the score report, the explanation of one check (`title`)
    and the total."""
    text = golden_text_file(name).read_text()
    table, *explained, total = text.rstrip().split("\n\n")
    chosen = [part for part in explained if part.startswith(" ".join(title) + " (")]
    if len(chosen) != 1:
        raise LookupError(f"{name}.txt explains no check named `{' '.join(title)}`")
    return "\n".join(["```", table, "", "...", chosen[0], "...", "", total, "```"])


def golden_report_of_task(name, *title):
    """Like `golden_report_excerpt`, with only one task's rows in the score report: those that begin with the first word of `title`."""
    lines = golden_report_excerpt(name, *title).split("\n")
    rule = next(k for k, line in enumerate(lines) if line.startswith("---"))
    end = next(k for k in range(rule + 1, len(lines)) if lines[k].startswith("---"))
    rows = [line for line in lines[rule + 1 : end] if line.startswith(title[0])]
    return "\n".join(lines[: rule + 1] + rows + lines[end:])


def golden_measured_and_expected(name):
    """{check: (measured, expected)} from a golden text of the grader."""
    rows, last = {}, None
    for line in golden_text_file(name).read_text().split("\n\n")[0].splitlines():
        if line.startswith(("=", "-", "check")):
            continue
        cells = line[:31].strip(), line[31:52].strip(), line[52:71].strip()
        if line[71:].strip() or not last:
            last = cells
        else:  # the continuation of the line above
            rows.pop(last[0], None)
            last = tuple(f"{above} {cell}".strip() for above, cell in zip(last, cells))
        if last[0] and last[2]:
            rows[last[0]] = last[1:]
    return rows


def given_and_required_counters_table(lab, *starts):
    """The counters that a lab's checks judge: as given, and required. `starts` selects checks by the beginnings of
    their names."""
    given, asked = golden_measured_and_expected(f"{lab}-skeleton"), golden_measured_and_expected(f"{lab}-solution")
    rows = []
    for check, (_, expected) in asked.items():
        judged = re.match(r"[\d,.]+ (?!of a copy|times)\D", expected)
        if judged and check.startswith(starts):
            now = given.get(check, ("",))[0]
            rows.append([check, now if re.match(r"\d", now) else "", expected])
    if not any(row[1] for row in rows):  # nothing is counted yet, or a question asks for the count
        return markdown_table(["check", "to reach"], [[row[0], row[2]] for row in rows], numeric=[1])
    return markdown_table(["check", "as given", "to reach"], rows, numeric=[1, 2])


def table_of_labs():
    """The README's table: the labs in the order of the course, each with its handout."""
    rows = [[f"[{lab.name}](handouts/{lab.name}.md)", lab.subject] for lab in labs.all_lab_descriptions()]
    return markdown_table(["lab", "subject"], rows)


def lab_times_table(lab, *kernels):
    """The kernels of a lab, or those that are named, with measured and modelled times."""
    largest = lab_times.largest_launches(lab)
    chosen = {
        name: row
        for name, row in largest.items()
        if not kernels or {name, name.split(" (")[0], re.split(r" \(|<", name)[0]} & {*kernels}
    }
    if not chosen:
        raise LookupError(f"none of {', '.join(largest)} is called {', '.join(kernels)}")
    rows = [
        [
            f"`{name}`",
            f"{int(row['n']):,}",
            f"{float(row['cold_us']):,.1f} µs",
            f"{float(row['fraction_cold']):.2f}",
            f"{float(row['modelled_us']):,.1f} µs",
            row["bottleneck"],
        ]
        for name, row in chosen.items()
    ]
    head = ["kernel", "elements", "measured", "of a copy", "modelled", "modelled as bound by"]
    return markdown_table(head, rows, numeric=range(1, 5))


MAKERS = {
    "labs": table_of_labs,
    "tasks": given_and_required_counters_table,
    "documented": documented_values_as_markdown,
    "requests": guide_requests_and_sectors_table,
    "predicted": predicted_and_measured_ratios_table,
    "golden": golden_report_excerpt,
    "golden_part": golden_report_of_task,
    "lab_times": lab_times_table,
    **model_tables.MAKERS,
}
# The makers of each lab's own tables.
for lab in labs.modules_by_lab("tables").values():
    MAKERS |= lab.MAKERS


def markdown_table_of_marker(name):
    """The table of a marker. `name` is a maker and its arguments, separated by blanks or /, followed by the rows to
    show, each after a |. Without rows, the table has all of them."""
    made, *chosen = (part.strip() for part in name.split("|"))
    maker, *arguments = re.split(r"[ /]+", made)
    if maker not in MAKERS:
        raise ValueError(f"unknown table `{made}`; there are: {', '.join(MAKERS)}")
    table = MAKERS[maker](*arguments)
    return select_markdown_table_rows(table, chosen) if chosen else table


def select_markdown_table_rows(table, chosen):
    """The head of a Markdown table and the rows in `chosen`, by their first cells joined with blanks. Raises
    LookupError for a choice that matches no row."""
    head, rule, *rows = table.splitlines()
    kept, found = [head, rule], set()
    for row in rows:
        cells = [cell.strip().replace("`", "") for cell in row.strip("|").split("|")]
        starts = {" ".join(cells[:count]) for count in range(1, len(cells) + 1)}
        if names := starts.intersection(chosen):
            kept.append(row)
            found |= names
    if missing := [choice for choice in chosen if choice not in found]:
        raise LookupError(f"the table has no row `{missing[0]}`:\n{table}")
    return "\n".join(kept)


def prose_language_of(path):
    """Pages of handouts/zh are Chinese."""
    return "zh" if Path(path).parent.name == "zh" else "en"


def update_tables(text, language="en"):
    with translation.using_language(language):
        return MARKED.sub(lambda m: f"{m[1]}{markdown_table_of_marker(m['name'])}\n{m[3]}", text)


def updated_page(path):
    return update_tables(path.read_text(), prose_language_of(path))


def markdown_files_with_tables():
    return [path for pattern in FILES for path in sorted(ROOT.glob(pattern))]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true", help="only report outdated tables")
    options = parser.parse_args(arguments)
    stale = [path for path in options.files or markdown_files_with_tables() if updated_page(path) != path.read_text()]
    for path in stale:
        if options.check:
            print(f"{path}: a table is stale; run `make figures`", file=sys.stderr)
        else:
            path.write_text(updated_page(path))
            print(f"wrote {path}")
    return int(options.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
