"""builtin/constraints."""
