"""A course is described in one file, course.toml, which `grade --course FILE`, `class --course FILE` and `make dist
COURSE=FILE` read.

reader.py    reads and checks the file
rubrics.py   applies it to the rubrics of the labs
__main__.py  lab32 course check FILE
"""
