"""The nouns of the product: frozen, typed, without any input or output."""
