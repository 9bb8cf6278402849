"""Charts of reports and pages: specs, pictures and the geometry of hand-drawn ones."""
