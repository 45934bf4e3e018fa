"""What stands around the routes or serves them all: repeats, limits, pages, ETags."""
