"""Explanations of a result and doubts about it: bottlenecks, drift, scaling, uncontrolled settings."""
