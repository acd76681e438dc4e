"""Guards between a search and the solvers of others: late, wrong or raising calls are handled here.

Begin with `guard`; `proposal_checks` holds proposals to the space.
"""
