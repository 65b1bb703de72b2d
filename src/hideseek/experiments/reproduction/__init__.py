"""The paper's evaluation, made again: its three results, its findings checked, and the pages that show them."""
