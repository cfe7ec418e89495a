"""Texts and values of errors that are safe to show; the seams and what is built on them use it."""
