"""Keep evaluations and run files safe on disk.

Nothing is known here of searches or pipelines. Begin with `run_folder`, then `sqlite/log`.
"""
