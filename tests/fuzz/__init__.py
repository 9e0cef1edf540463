"""A mutation fuzzer over the readers: ``python -m tests.fuzz.run --mutants 20000``."""
