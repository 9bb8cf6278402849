"""A local page to watch experiments: it reads the store and shows reports; it computes and changes nothing."""
