"""Own the folder of a run while it is in use: its lock, its log, `run.json`, its changes.

Begin with `session`. `finish` and `saved` may not be imported here.
"""
