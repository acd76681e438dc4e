"""What several commands need: progress, summaries, parameter types, the screen."""
