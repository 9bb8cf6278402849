"""Statistics: arrays in, numbers out. Imports nothing of the program; scipy holds the distributions."""
