"""Parts that all routes share: rate limits, pages, ETags."""
