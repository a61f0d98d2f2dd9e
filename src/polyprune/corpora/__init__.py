"""TEXT IN, BATCHES OUT: languages and the text that models are checked on."""
