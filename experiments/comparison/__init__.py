"""One command compares this library with those that people use now, on problems with known answers.

`python -m experiments.comparison --help`. Each run of a library is a cell, a process of its own in
the library's environment, and is kept in `.cache/comparison`.
"""
