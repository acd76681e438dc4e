"""One evaluation in a process of its own: limits, supervision, and the pipe for its result.

Begin with `task_child`.
"""
