"""Seams: one package per audience, with its shape, its `on` and its tables of the catalogue."""
