"""The public benchmark of simulation-based inference (Lueckmann et al. 2021), on five of its tasks.

Observations and reference draws come from its package, which is not a dependency: it is put into an
environment of its own, together with the classifier of its two-sample test, on request.
"""
