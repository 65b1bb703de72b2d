"""Figures, by what they show: ``profiles``, ``solutions``, ``codebooks`` and ``labels`` for the results of these names;
``maps``, ``curves``, ``through_time``, ``comparisons``, ``paper_figures`` for reports; ``style`` is how they look. The
only package that imports matplotlib, which is loaded only when something is drawn. Imports ``model`` and ``util``.
"""
