"""Finish a run after its search: fit the best, certify it, write the model, report.

Begin with `final_fit` and `run_files`; `outcome` is the record at the end. `saved` and `pipelines`
may not be imported here.
"""
