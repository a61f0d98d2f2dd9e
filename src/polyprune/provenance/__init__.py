"""Where a model came from: its original's name and licence, its card, and folders of it."""
