"""What every room needs: arrays and sparse matrices, checks of values and of argument types, limits of the machine,
lengths of time steps, measured numbers with their confidence intervals, private files, text and tables that are safe to
show. Imports only ``hideseek.errors``; what a device loads from here needs numpy alone.
"""
