"""Schedules in plain English: `read_english` understands a sentence, `describe` says any schedule as one."""

from noonmark.schedule.english.compose import read_english
from noonmark.schedule.english.describe import describe

__all__ = ["describe", "read_english"]
