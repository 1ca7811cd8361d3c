"""Logs become tables, statistics and reports. Imports nothing of ours but plain records."""
