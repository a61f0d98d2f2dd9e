"""Making another model of a model: smaller, factorized, with fewer layers; and the proof of it."""
