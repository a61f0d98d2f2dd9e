"""Second-order pruning: what removals cost when the rest makes up for them, and how it does."""
