"""WHICH COMPONENTS STAY, and the model that is left of them."""
