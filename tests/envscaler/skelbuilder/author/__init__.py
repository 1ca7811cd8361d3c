"""A model's part, written by us: what a capable model would answer to the questions of SkelBuilder, slips included.

`record.py` plays it against the pipeline and writes the recording that the tests replay.
"""
