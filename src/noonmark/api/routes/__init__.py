"""The routes, one file for each noun or verb."""
