"""builtin/components."""
