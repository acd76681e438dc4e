"""Records and protocols shared by every other package; numpy and nothing else.

Import nothing of this project here. Begin with `problem` (limits, evaluations and sub-problems) and
`space` (axes and candidates), then read `protocols` (the promises of solvers and executors).
`errors` and `messages` hold all that users read when something is wrong.
"""
