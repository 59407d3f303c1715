"""Published test sets by name: the catalogue, the readers of their files, the cache."""
