"""SIZE AND SPEED: what a model weighs, and what running it costs."""
