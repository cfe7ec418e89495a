"""Seams: one package per audience, with its shape, its `on` and its tables of the catalogue.

All of them may use `adapter`, `catalog`, `rendering`, `reporting` and `wire`.
"""
