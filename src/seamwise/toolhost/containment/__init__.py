"""Containment of programs: a supervisor process ends everything that a program started."""
