"""Third-party environments behind the harness's `Environment`: one folder each."""
