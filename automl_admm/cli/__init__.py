"""The command line: one file a command, each registered like a plugin's."""
