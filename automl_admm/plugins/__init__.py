"""Find plugins, check their records and make what they provide.

Built-ins come through the same door. Only `core` and `search` are imported. Begin with `specs`
(the hooks), then `records` (what hooks return) and `loading`.
"""
