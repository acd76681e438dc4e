"""Read pipelines that are written as text, and match them with a grammar."""
