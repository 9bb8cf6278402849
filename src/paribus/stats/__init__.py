"""Statistics on plain arrays; imports nothing else of the package."""
