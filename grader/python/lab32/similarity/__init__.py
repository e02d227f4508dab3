"""Suggests pairs of submissions to read side by side: `lab32 similarity SUBMISSIONS -o PAGE` (README.md).

compiled.py         compiles each submission to PTX, with `lab32 ptx`
ptx.py              computes fingerprints of its kernels
pairs.py            compares the submissions of a class in pairs, clusters them, and holds the limits
tokens.py           runs compare50 through compare50_pairs.py, in an environment where it is installed
page.py             writes the page
"""
