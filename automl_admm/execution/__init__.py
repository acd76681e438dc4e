"""Run work in child processes that may crash, hang or lie.

No scikit-learn and no pipeline is known here. Begin with `local_executor`, which talks to
`server/fork_server`, which forks `child/task_child`.
"""
