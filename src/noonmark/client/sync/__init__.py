"""The SDK for code without an event loop. Every module here is made by tools/make_sync.py; none is edited."""
