"""Output formats of a report: HTML, Markdown, terminal text and JSON."""
