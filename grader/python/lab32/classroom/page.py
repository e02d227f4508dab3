"""Writes OUT/report.html: report.ipynb, run over a class's results, as one self-contained page."""

import os
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter

from lab32 import notebooks

NOTEBOOK = Path(__file__).with_name("report.ipynb")
STYLE = """
body { font: 16px/1.5 sans-serif; color: #222; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; margin: 2rem 0 .6rem; }
table { border-collapse: collapse; font-size: 14px; margin: .8rem 0; }
th, td { text-align: left; padding: .2rem .7rem; border-bottom: 1px solid #ddd; vertical-align: top; }
.number { text-align: right !important; font-variant-numeric: tabular-nums; }
.bar { position: relative; width: 9rem; background: #eee; }
.bar i { position: absolute; inset: 0 auto 0 0; background: #56b4e9; }
.bar b { position: relative; padding-left: .4rem; font-weight: normal; }
img { max-width: 100%; height: auto; }
.anchor-link, .jp-InputPrompt, .jp-OutputPrompt, .prompt { display: none; }
"""
# The page shows text that students wrote: no script runs, and nothing is fetched.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Class report</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def write_class_report_page(store):
    """Raises any error of the notebook's run."""
    where = {"LAB32_CLASS": str(store.out.resolve())}
    executed = notebooks.write_executed_notebook(NOTEBOOK, store.state, where)
    exporter = HTMLExporter(template_name="basic", exclude_input=True)
    body, _ = exporter.from_notebook_node(nbformat.read(executed, as_version=4))
    page = PAGE.format(policy=POLICY, style=STYLE, body=body)
    store.write_file(Path(store.out, "report.html"), page)
    os.unlink(executed)
