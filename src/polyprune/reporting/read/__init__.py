"""Read results from whatever holds them."""
