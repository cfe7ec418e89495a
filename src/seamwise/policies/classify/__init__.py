"""What the exceptions of other libraries mean: ready classifiers for `refine`, one file a library, imported only when used."""
