"""Plans that are made for the user: from answers, from a command line, from an experiment, from an example."""
