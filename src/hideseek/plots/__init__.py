"""Figures, by what they show: ``maps``, ``curves``, ``through_time``, ``comparisons``, ``paper_figures``; ``style`` is
how they look. The only package that imports matplotlib, which is loaded only when something is drawn. Imports
``model`` and ``util``.
"""
