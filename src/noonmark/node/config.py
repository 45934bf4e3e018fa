"""Settings of a node, with the defaults that hold from a laptop to a fleet."""

import msgspec

from noonmark.model.ids import DEFAULT_SHARDS
from noonmark.shard.limits import Limits

REQUESTS_PER_S = 10_000.0


class NodeConfig(msgspec.Struct, frozen=True, kw_only=True):
    database_url: str
    host: str = "127.0.0.1"
    port: int = 7171
    advertise: str | None = None
    """The address that other nodes and workers reach this node at, if not http://host:port."""
    process: int = 0
    """Its number among the processes of one node, from 1; 0 if it is the only one."""
    public_address: str | None = None
    """The one address of the node whose process it is."""
    pool_size: int = 4
    """Connections for reads, beside the two that every process holds."""
    token: str | None = None
    shards: int = DEFAULT_SHARDS
    """Set once, by the node that installs the schema."""
    lease_s: float = 3.0
    renew_s: float = 0.75
    lookahead_s: float = 3.0
    tick_s: float = 1.0
    tick_parts: int = 8
    """In how many transactions a round of ticks with something due goes over the shards: other commits go between."""
    tick_shards: int = 8
    """Fewer shards than this are not worth a transaction of their own."""
    grace_s: float = 30.0
    """An occurrence later than this was missed, and its job's misfire policy decides."""
    heartbeat_s: float = 2.0
    inbox_s: float = 0.05
    private_webhooks: bool = False
    """Whether notifications may go to addresses that are not on the public internet."""
    limits: Limits = Limits()
    requests_per_s: float = REQUESTS_PER_S
    """How many requests one caller may send to this node, with two seconds' worth at once."""
