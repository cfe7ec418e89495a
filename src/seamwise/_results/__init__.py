"""Results: `Success` and `Failure`, their composition, direct style, and edges to exceptions."""
