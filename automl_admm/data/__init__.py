"""Read tables as in training, split them, and recognise them later.

`table_schema` records the types of the training table, and every later reading follows it. Nothing
here may import pipelines, runs or searches. Begin with `tables`, then `timed_reading`.
"""
