"""An experiment as tables for other programs: which there are, their rows, and their forms as files."""
