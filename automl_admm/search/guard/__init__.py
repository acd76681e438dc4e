"""A guard between a search and its solvers: late, wrong or raising calls end here.

Begin with `guard`: it makes each call in a thread with a time limit, and replaces a solver after
too many faults. `proposal_checks` holds proposals to the sub-problem's space. Import only `core`
and numpy.
"""
