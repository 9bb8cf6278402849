"""One plan on several machines: the list of machines, a controller for each, and the effects over all of them."""
