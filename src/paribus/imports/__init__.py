"""Import of published results: files in, sets of trials out, judged and reported like own experiments."""
