"""builtin/theta."""
