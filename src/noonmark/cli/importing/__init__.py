"""`noonmark import`: jobs from a crontab, a Celery beat schedule or APScheduler, with a report of the rest.

Each source has a file that turns it into `Found`: jobs, and notes about what is different here. `command` writes them
as a manifest, or applies that.
"""
