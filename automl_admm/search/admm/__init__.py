"""The method of Liu et al. 2020: ADMM over selections and relaxed parameters.

Begin with `outer_loop`; the other modules are its formulas, a topic each. Numpy only.
"""
