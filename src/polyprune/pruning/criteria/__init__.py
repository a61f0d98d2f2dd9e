"""Criteria."""
