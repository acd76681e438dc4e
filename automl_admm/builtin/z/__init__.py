"""builtin/z."""
