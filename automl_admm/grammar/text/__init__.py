"""Read pipelines written as text, and match them with a grammar."""
