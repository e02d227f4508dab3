"""The timing checks of a grading, as a table: collect.py RESULT.json"""

import csv
import json
import sys

FIGURES = (
    "seconds",
    "seconds_low",
    "seconds_high",
    "warm_seconds",
    "copy_seconds",
    "fraction",
    "fraction_low",
    "fraction_high",
    "baseline_seconds",
    "before_seconds",
    "ratio",
    "ratio_low",
    "ratio_high",
    "ratio_expected",
    "rounds",
)

with open(sys.argv[1]) as file:
    result = json.load(file)
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(("lab", "check", "status", *FIGURES))
for lab in result["labs"]:
    for test in lab["tests"]:
        figures = test["figures"]
        if "seconds" in figures:
            values = [f"{figures[f]:.6g}" if f in figures else "" for f in FIGURES]
            out.writerow((lab["lab"], test["name"], test["status"], *values))
