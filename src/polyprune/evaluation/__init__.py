"""XTREME's nine tasks: read, fine-tuned, predicted and scored as the official scripts do."""
