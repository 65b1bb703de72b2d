"""What every room needs and nobody else would look for: arrays, checks of values and of argument types, measured
numbers with their confidence intervals, private files, text made harmless. Imports only ``hideseek.errors``.
"""
