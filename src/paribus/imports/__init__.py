"""Other people's numbers: files in, sets of trials out, judged and reported like experiments of our own."""
