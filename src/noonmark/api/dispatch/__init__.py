"""From a request to the function that answers it, and back: rows of a table, read once at start.

endpoint.py     one row: method, path, role, function, status
signature.py    the parameters and the answer of the function, read from its signature
parameters.py   the values of a query and of headers, typed and bounded
request.py      a request with its body, which is bounded
answer.py       the kinds of answers, and their bytes
fields.py       `?fields=`: a part of each resource
routes.py       paths to rows
router.py       the ASGI application
"""
