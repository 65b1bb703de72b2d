"""The paper's evaluation, repeated: its three results, its findings checked, and the pages that show them."""
