"""Text as segments: files, columns and lists, and the tokenizers that split them."""
