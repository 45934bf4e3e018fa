"""The words of Noonmark as frozen values: ids, policies, jobs, runs, grants, reasons."""
