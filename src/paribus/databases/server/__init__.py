"""Private database servers on the target and servers in use by others, whatever their kind."""
