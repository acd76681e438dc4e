"""Run work in isolated child processes: they may crash, hang or lie.

Nothing here may import scikit-learn, pipelines or runs. Begin with `local_executor`; it talks to
`server/fork_server`, and that forks a `child/task_child` for each task.
"""
