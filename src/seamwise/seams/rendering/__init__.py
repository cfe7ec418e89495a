"""Texts and values of errors that are safe to show, for seams and the layers above them."""
