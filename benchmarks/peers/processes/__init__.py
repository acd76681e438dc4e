"""One module for each system, run in that system's own Python: `python -m peers.processes.flaml`.

They import nothing of the driver, only `exchange`, numpy, pandas and their own system. Each reads
the training rows and the unlabelled test rows from a folder, and leaves its predictions there.
"""
