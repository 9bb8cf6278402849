"""Report for a person: one view of an experiment, rendered as HTML, Markdown, terminal text or JSON."""
