"""The map of a program: which error can travel from where to where, and how it is drawn."""
