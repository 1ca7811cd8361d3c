"""Ready-to-run folders for other engines: data, configuration, and files that talk to the environment server."""
