"""Parzen estimators: `tpe`, and `ctpe` for limits (Watanabe and Hutter).

Begin with `tpe`, the frame of both solvers; `ctpe` replaces its rule for good points. Below them
stand `mixture`, the densities, then `kernels` and `axes`. Equation numbers in comments are those of
the c-TPE paper.
"""
