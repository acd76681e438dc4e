"""Decide what to try next: the two strategies and the guard around solvers.

No process, file or scikit-learn object is known here; only `core` is imported. Begin with
`protocol`, the conversation between a search and its driver, then `admm/outer_loop`.
"""
