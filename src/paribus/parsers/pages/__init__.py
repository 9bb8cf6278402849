"""Web pages as other people save them, turned into the text that they show."""
