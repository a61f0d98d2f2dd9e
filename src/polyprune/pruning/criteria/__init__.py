"""Criteria: what makes one component more important than another, and scores measured on text."""
