"""How fast models are; the only room that reads the clock."""
