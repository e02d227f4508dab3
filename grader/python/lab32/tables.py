"""Reads the tables of data/: documented and measured values, and device profiles."""

import csv
import functools
import re
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path

from lab32 import ROOT

DATA = ROOT / "data"


def number_aware_key(text):
    """A sort key by which `stride 2` comes before `stride 16`."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


@dataclass
class DataTable:
    head: dict  # the "# key: value" lines above a measured table
    columns: list
    rows: list  # dicts of strings, as written

    def where(self, **cells):
        """The rows whose columns have these values."""
        return [r for r in self.rows if all(r[k] == str(v) for k, v in cells.items())]

    def value(self, column, **cells):
        """The number in the only row that has these values."""
        rows = self.where(**cells)
        if len(rows) != 1:
            raise LookupError(f"{len(rows)} rows have {cells}, expected exactly one")
        return float(rows[0][column])


def read_data_table(path):
    path = Path(path)
    changed = path.stat()
    head, columns, rows = parse_table(path, changed.st_mtime_ns, changed.st_size)
    return DataTable(dict(head), list(columns), [dict(row) for row in rows])


@functools.cache
def parse_table(path, *_changed):
    """(head, columns, rows), cached because a page of a handout reads a table dozens of times; do not modify them."""
    head, lines = {}, []
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            key, _, value = line[2:].partition(": ")
            head[key] = value
        else:
            lines.append(line)
    reader = csv.DictReader(lines)
    return head, list(reader.fieldnames), list(reader)


def table_description_text(table, width=88):
    """The description in the lines above a measured table, wrapped to the width of a notebook."""
    lines = []
    for key, value in table.head.items():
        if key == "cub":  # CUB_VERSION
            value = f"{int(value) // 100_000}.{int(value) // 100 % 1000}.{int(value) % 100}"
        lines += textwrap.wrap(f"{key}: {value}", width, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines)


def read_documented_table(name):
    return read_data_table(DATA / "documented" / f"{name}.csv")


def read_measured_table(name):
    return read_data_table(DATA / "measured" / f"{name}.csv")


def read_modelled_table(name):
    return read_data_table(DATA / "modelled" / f"{name}.csv")


def read_toml_file(path):
    """The contents of a TOML file of data/devices or data/limits."""
    return tomllib.loads(Path(path).read_text())


def read_device_profile(name):
    return read_toml_file(DATA / "devices" / f"{name}.toml")


def read_rubric_of_lab(lab):
    return read_toml_file(DATA / "limits" / f"{lab}.toml")
