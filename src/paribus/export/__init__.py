"""Export of an experiment as tables for other programs: schemas, rows and file formats."""
