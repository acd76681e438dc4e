"""Keep evaluations and run files safe on disk.

`sqlite` is the log of evaluations, `rescue` copies, checks and repairs it. Nothing here may import
searches, pipelines or data; `core` is enough. Begin with `run_folder`, then `sqlite/log`.
"""
