"""Tests mirror the rooms; each is named after a behaviour."""
