"""Records and protocols that every other package speaks in; numpy and nothing else.

Nothing of this project is imported here. Begin with `problem` (what is searched) and `space`
(axes and candidates), then `protocols` (the promises of solvers and executors).
"""
