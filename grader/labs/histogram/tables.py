"""The table of handouts/histogram-notes.md."""

from handouts.markdown import markdown_table
from lab32.labs.histogram import notebook


def histogram_to_copy_time_ratio_table(device):
    """A table of the times of the forms for each kind of keys, as multiples of a copy's."""
    rows = [
        [form, *(f"{notebook.measured_value(form, keys, 'times_copy', device):.2f}" for keys in notebook.KEYS)]
        for form in notebook.FORMS
    ]
    return markdown_table(["form", *notebook.KEYS], rows, numeric=range(1, 5))


MAKERS = {"histogram_times": histogram_to_copy_time_ratio_table}
