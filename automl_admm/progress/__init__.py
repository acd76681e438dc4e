"""The progress of a run, shown on a stream, on a terminal or in a notebook.

`run_so_far` turns the events of a run into lines, `displays` show lines, and `observer` ties both
to the hooks. Nothing is shown unless somebody makes a display and says where. It may import `core`
and rich. Begin with `observer.Progress`.
"""
