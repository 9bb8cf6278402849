"""What a person is shown: one view of an experiment, rendered as HTML, Markdown, terminal text or JSON."""
