"""Documents of the catalogue, made from all the seams' tables and from errors that really happen."""
