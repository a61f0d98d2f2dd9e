"""Training: one loop for every objective, from a run's config to a finished model folder."""
