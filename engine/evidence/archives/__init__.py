"""Zip and tar archives as folders."""
