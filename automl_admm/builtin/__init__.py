"""What ships with the package, registered by entry point exactly like anybody's plugin."""
