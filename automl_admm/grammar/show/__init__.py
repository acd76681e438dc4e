"""Draw and count the pipelines of a grammar."""
