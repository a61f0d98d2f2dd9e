"""Files of tensors: weights, gates, and what identifies them."""
