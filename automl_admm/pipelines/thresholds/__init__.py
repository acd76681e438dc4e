"""Decision thresholds within limits: one for all rows, or one for each group.

Begin with `decider`.
"""
