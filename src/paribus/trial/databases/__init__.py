"""Database servers during trials."""
