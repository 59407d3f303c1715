"""Published test sets by name: their catalogue, file readers and cache."""
