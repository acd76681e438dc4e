"""Read tables as in training, split them, and recognise them later.

`reading` has the files, `table_schema` records the types of the training table, and every later
reading follows it. Nothing here may import pipelines, runs or searches. Begin with
`reading.tables`, then `table_schema`.
"""
