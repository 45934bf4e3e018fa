"""The HTTP API over a node; every answer that is not the wanted one is an RFC 9457 problem.

    access/                   authentication and authorisation: keys, roles, the guard
    table.py                  every endpoint, one row each: method, path, role, function, status
    dispatch/                 from a request to the function that answers it, and back
    middleware/               parts that all routes share: rate limits, pages, ETags
    routes/                   the functions, one file for each noun or verb
    explain/                  why a run went as it did, and why a job did not run
    openapi/                  the OpenAPI document, read from the table and the wire types
    call.py                   the request as a route sees it: caller, tenant, node
    request_key.py            the Idempotency-Key of a request
    validate.py               refuses a wrong request before anything is sent or stored
    present.py  bodies.py     rows to resources, and the envelopes around them
    problems.py  asgi.py      every error as a problem; the types of ASGI

`create_app(node, token)` in app.py puts them together. The API holds no state but caches; the node decides.
"""
