"""Back up, check, repair and salvage a store."""
