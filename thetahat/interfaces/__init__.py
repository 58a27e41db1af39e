"""The command line and the HTML report. No other package imports this one."""
