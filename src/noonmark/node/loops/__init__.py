"""Loops with one duty each."""
