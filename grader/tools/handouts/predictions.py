"""Selects which predictions of data/measured/*/predicted.csv a page shows."""

import math


def worst_predictions(rows, most=None):
    """The `most` rows of (predicted, measured, row) whose two ratios differ by the largest factor, in
    their order; all rows if `most` is None. A row that predicts "none" is never far off."""

    def log_ratio_error(entry):
        expected, reached, _ = entry
        return 0 if expected == "none" else abs(math.log(reached / float(expected)))

    chosen = sorted(range(len(rows)), key=lambda k: log_ratio_error(rows[k]), reverse=True)
    return [rows[k] for k in sorted(chosen[: int(most or len(rows))])]
