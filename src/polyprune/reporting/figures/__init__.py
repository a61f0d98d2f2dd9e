"""Figures as values, from results."""
