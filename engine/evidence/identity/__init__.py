"""Who a file is of: tokens, warnings, and copies without a name (PS3.15)."""
