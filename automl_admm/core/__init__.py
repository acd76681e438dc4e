"""Records and protocols shared by every other package; numpy and nothing else.

Import nothing of this project here. Begin with `space` (axes and candidates), `limits` and
`evaluations`, then read `subproblems` and `protocols` (the tasks and the promises of solvers and
executors). `errors` and `messages` hold all that users read when something is wrong.
"""
