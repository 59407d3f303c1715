"""Text as people pass it, as segments: files, columns, lists; the tokenizers that split them."""
