"""All nine tasks of XTREME in miniature: small, sound and made here, from a lexicon a language."""
