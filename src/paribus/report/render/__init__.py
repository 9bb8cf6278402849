"""Output formats of a report: HTML, Markdown, terminal text, JSON, and the charts in them."""
