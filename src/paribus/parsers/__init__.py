"""What other tools print, read. Each file knows one format: text in, a `Report` out; nothing is read or started."""
