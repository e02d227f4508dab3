"""Grades a whole class: `lab32 class SUBMISSIONS -o OUT` (README.md).

collect.py   turns a platform's export into one file per student and lab, in OUT/submissions
worker.py    grades each submission in a process of its own; each result is written atomically
run.py       finds the submissions that are not graded yet, starts jobs for them, shows progress
slurm.py     submits, watches and cancels jobs of Slurm
scores.py    writes OUT/scores.csv after the late policy; gradebook.py fills in the platform's file
page.py      renders OUT/report.html from analysis.py
shell.py     holds the parts of the command line that lab32.similarity shares

collect.py reads files through entries.py (folders, archives) and names.py (what file names mean).
people.py and table.py read rosters. store.py manages the folder OUT.
"""
