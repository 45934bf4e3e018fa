"""Jobs as code: `noonmark apply` and `noonmark export`.

A manifest is read from files (`read`, over `lines`, which remembers where each value stands), compared with what the
server has (`plan`), shown, and carried out (`apply`). `export` writes a manifest that applies back to no difference.
"""
