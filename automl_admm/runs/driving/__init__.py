"""Drive a search in the parent process: evaluations, budget, costs, log and interrupts.

Begin with `driver`. Nothing else of `runs` may be imported here, and no solver: a search is a
generator of proposals (`search.protocol`), and an executor does the work (`dispatch`).
"""
