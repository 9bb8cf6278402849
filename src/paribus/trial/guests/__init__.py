"""The guest under test and its hypervisor while trials run: settings, restarts, other load."""
