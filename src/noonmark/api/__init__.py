"""The HTTP API: routes by noun over a node; every answer that is not the wanted one is an RFC 9457 problem.

    access/                   who asks, and who may: keys, roles, the guard at the door
    manners/                  what all routes share: how often, once, in part, page by page
    routes/                   the routes, on Litestar: one file for each noun or verb
    stories/                  why a run went as it did, and why a job did not run
    openapi/                  the OpenAPI document, read from the routes and the wire types
    worker.py                 the worker protocol, raw ASGI: the hot path
    submissions.py            submissions that simply work, raw ASGI: the other hot path
    call.py                   what a route knows of its request: caller, tenant, node, owners
    validate.py               refuses what is wrong before anything is sent or stored
    owners.py  forward.py     a command is carried out by the node that owns its shard
    present.py  bodies.py     rows to resources, and the envelopes around them
    problems.py               every error as a problem

`create_app(node, token)` in app.py puts them together. The API holds no state but caches; the node decides.
"""
