"""Surgery."""
