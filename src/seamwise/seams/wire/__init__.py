"""Wire formats that several seams write or read, and the errors of decoding them."""
