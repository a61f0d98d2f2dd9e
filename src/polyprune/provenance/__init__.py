"""WHERE A MODEL CAME FROM: its original's name and licence, its card, and writing whole folders."""
