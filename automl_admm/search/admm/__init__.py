"""The method of Liu et al. 2020: ADMM over selections and relaxed parameters.

Begin with `outer_loop`, the five steps of an iteration. Its formulas stand in `lagrangian`,
`projection` and `pricing`, the evaluations of each sub-problem in `schedule`, and the rules for
stopping or moving on in `stagnation` and `excursions`. Import only `core`, numpy and
`search.protocol`. Equation numbers in comments are those of Ram et al. 2020.
"""
