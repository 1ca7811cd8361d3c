"""The bridge to Inspect: a solver that drives episodes, a scorer that reads outcomes, and model providers.

The only part of the harness that imports Inspect. The decorated functions whose names stand in logs live in
`envscaler._registry` and delegate here.
"""
