"""`python -m noonmark.api` writes the OpenAPI document to standard output: see `make openapi`."""

import sys

from noonmark.api.openapi.written import written

sys.stdout.buffer.write(written())
