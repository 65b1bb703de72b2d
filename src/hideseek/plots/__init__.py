"""Figures for results and reports. Imports ``model`` and ``util``; matplotlib is loaded when something is drawn."""
