"""The other strategy: one solver over the whole conditional space at once (the paper's JOPT).

Begin with `joint_search`. `one_hot` and `conditional` are two views of the space as a box;
`penalty` prices violations for solvers without constraints. Import only `core`, numpy and
`search.protocol`.
"""
