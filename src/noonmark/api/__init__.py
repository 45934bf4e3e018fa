"""The HTTP API: routes by noun over a node; every answer that is not the wanted one is an RFC 9457 problem.

    jobs.py  runs.py  dead.py  fleet.py  health.py   routes, on Litestar
    worker.py                                         the worker protocol, raw ASGI: the hot path
    call.py                                           what a route knows of its request: tenant, node, owners
    validate.py                                       refuses what is wrong before anything is sent or stored
    owners.py  forward.py                             a command is carried out by the node that owns its shard
    present.py  bodies.py  pages.py  body.py          rows to resources, envelopes, cursors, request bodies
    problems.py  auth.py                              errors as problems; the bearer token

`create_app(node, token)` in app.py puts them together. The API holds no state but caches; the node decides.
"""
