"""XTREME's nine tasks in miniature: small, sound, generated from one lexicon per language."""
