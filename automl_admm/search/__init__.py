"""Decide which candidate to try next: two strategies, and a guard around their solvers.

`admm` alternates between parameters and selections; `joint` gives the whole space to one solver;
`guard` watches the solvers. No process, file or scikit-learn object is known here: import only
`core` and numpy. Begin with `protocol`, the conversation between a search and its driver, then read
`admm/outer_loop`.
"""
