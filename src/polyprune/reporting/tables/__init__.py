"""Tables as values, from results."""
