"""A search that its user drives: `ask` for points, `tell` their results.

Begin with `study`. It steps the same search as a run does (`conversation`), and `optimize` lends
that search to a driver. `minimize` is the shortest use.
"""
