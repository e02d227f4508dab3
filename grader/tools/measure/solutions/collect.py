"""Writes the timing checks of a grading as a table: collect.py RESULT.json"""

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
    "fraction_expected",
    "baseline_seconds",
    "before_seconds",
    "ratio",
    "ratio_low",
    "ratio_high",
    "ratio_expected",
    "reference_seconds",
    "reference_gain",
    "against_reference",
    "against_reference_low",
    "against_reference_high",
    "rounds",
    "spent_making_inputs",
    "spent_timing",
    "spent_starting_the_card",
    "spent_in_rounds",
    "spent_verifying",
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
