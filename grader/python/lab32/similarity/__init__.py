"""Whom of a class to read side by side: `lab32 similarity SUBMISSIONS -o PAGE` (README.md).

compiled.py         the PTX of each submission, by `lab32 ptx`
ptx.py              fingerprints of its kernels
pairs.py            what two of a class share; who hangs together; the limits
tokens.py           compare50's signal; compare50_pairs.py runs where that is installed
page.py             the page
"""
