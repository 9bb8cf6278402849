"""The stores of experiments: opening them, importing into them, and deleting and pruning what they hold."""
