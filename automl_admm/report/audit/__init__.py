"""The certificate for others: a statement to sign, and a page to read."""
