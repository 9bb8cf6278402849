"""The application layer and public Python API: inspect, check, run, report, compare, import and export."""
