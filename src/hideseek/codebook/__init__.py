"""What a device stores: tables of whole weights, the stages they belong to, the codebook with its claims, and the joint
distribution of true and exposed places under it. Imports ``storage``, ``model`` and below, and no solver.
"""
