"""How it is answered: evidence, models, vectors, ranks."""
