"""Other packages' names over this package's engine."""
