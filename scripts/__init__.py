"""The commands: run, report, show, status, check, bench."""
