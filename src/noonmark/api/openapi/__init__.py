"""The OpenAPI document, written out of the routes."""
