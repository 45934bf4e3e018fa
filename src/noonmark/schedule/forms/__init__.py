"""The forms in which a schedule is written, one file each."""
