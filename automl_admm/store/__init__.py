"""The memory of a run on disk: an SQLite log of evaluations, and the manifest beside it."""
