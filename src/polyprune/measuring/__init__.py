"""Measuring: speed, latency and memory of models; the only package that reads the clock."""
