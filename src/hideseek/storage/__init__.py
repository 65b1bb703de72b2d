"""Plain data and sealed files: scenarios, metrics, regions and profiles as documents, and files of arrays with a
checksum over every byte. Imports ``model``, ``metrics`` and below.
"""
