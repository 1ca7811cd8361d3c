"""EnvScaler: evaluate, synthesize for, and train tool-using agents in executable, stateful environments."""

__version__ = "0.1.0"
