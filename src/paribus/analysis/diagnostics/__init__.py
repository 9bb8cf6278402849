"""What explains a result or casts doubt on it: bottlenecks, drift, scaling, uncontrolled settings."""
