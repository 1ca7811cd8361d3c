"""Synthesized environments: records, tool schemas from source, and running instances."""

from envscaler.environments.record import EnvironmentRecord, Tools
from envscaler.environments.schema import tool_specs
from envscaler.environments.synthesized import SynthesizedEnvironment

__all__ = ["EnvironmentRecord", "SynthesizedEnvironment", "Tools", "tool_specs"]
