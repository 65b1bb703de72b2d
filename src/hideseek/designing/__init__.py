"""From a profile to a codebook: one game for every history, the stages in the making, and the deployed run that is
certified. Imports ``codebook``, ``planning``, ``solvers`` and below.
"""
