"""Documents of the error catalogue, generated from the tables of all seams and from real errors."""
