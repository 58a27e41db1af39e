"""The report: a single self-contained HTML file."""
