"""/v1/node/commands: a command that another node has taken in, for this one to carry out as the owner of its shards."""

from noonmark.api.dispatch.request import Request
from noonmark.errors import Unauthorized
from noonmark.node.node import Node
from noonmark.node.transport import SIGNATURE_HEADER, Performed


async def carry_out_command(node: Node, request: Request) -> Performed:
    """Takes only commands that nodes have signed; refuses one for a shard that this node does not own."""
    command = node.read_command(bytes(await request.body()), request.header(SIGNATURE_HEADER) or "")
    if command is None:
        raise Unauthorized("this is how nodes speak to each other", field=SIGNATURE_HEADER, fix="ask any node instead")
    return await node.carry_out(command)
