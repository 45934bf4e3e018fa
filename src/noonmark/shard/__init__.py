"""The owner's decisions as pure code: no clock, no randomness of its own, no input or output."""
