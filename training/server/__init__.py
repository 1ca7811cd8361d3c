"""The environment server: episodes over HTTP, for training engines that cannot share our dependencies."""
