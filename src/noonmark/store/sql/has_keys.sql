SELECT EXISTS (SELECT FROM noonmark.api_key)
