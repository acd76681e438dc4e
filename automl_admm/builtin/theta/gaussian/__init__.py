"""The θ-solver `gp`: a Gaussian process and the search for its largest acquisition.

Begin with `gp`. An ask passes through `training_set` and `warping` (values made fit for the model),
`surrogate` and `regression` (the model), and `acquisition` (the score of a point). Needs NumPy and
SciPy only.
"""
