"""The method itself: ADMM over selections and relaxed parameters, in numpy and nothing else."""
