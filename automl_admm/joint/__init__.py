"""The other strategy: one solver over the whole conditional space at once (the papers' JOPT)."""
