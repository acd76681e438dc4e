"""Learn what ships as `automl_admm/portfolio.json`, and measure what it is worth."""
