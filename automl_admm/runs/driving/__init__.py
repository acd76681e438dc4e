"""The parent's loop: send tasks, judge results, keep the budget.

Begin with `driver`.
"""
