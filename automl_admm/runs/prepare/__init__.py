"""From a configuration to solvers, executors, constraints and a first point.

Begin with `preparation`.
"""
