"""After the search: test pipelines in a fixed order until one passes."""
