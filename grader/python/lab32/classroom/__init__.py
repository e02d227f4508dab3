"""Grades a whole class: `lab32 class SUBMISSIONS -o OUT` (README.md).

collect.py   what a platform exported -> a file per student and lab, in OUT/submissions
worker.py    one process per submission; each result is written whole, at once
run.py       which are left to do, on how many cores or nodes; the progress
slurm.py     jobs of Slurm: submitted, watched, cancelled
scores.py    OUT/scores.csv, with what the late policy takes; gradebook.py fills the platform's
page.py      OUT/report.html, by analysis.py
shell.py     the command line, as far as lab32.similarity shares it

collect.py reads with entries.py (folders, archives) and names.py (what names say); people.py and
table.py read rosters; store.py is OUT.
"""
