"""Times that a schedule leaves out or keeps to: weekdays, dates, months, hours, public holidays."""
