"""Every loop of a node's life, in the order in which they are started. A new loop is added here."""

from noonmark.node.life import Life
from noonmark.node.loop import Loop
from noonmark.node.loops.deliverer import DelivererLoop, DeliveryHeartbeatLoop
from noonmark.node.loops.hearing import HearingLoop
from noonmark.node.loops.inbox import InboxLoop
from noonmark.node.loops.lag import LagLoop
from noonmark.node.loops.notifier import NotifierLoop
from noonmark.node.loops.ownership import OwnershipLoop
from noonmark.node.loops.reaper import ReaperLoop
from noonmark.node.loops.rescuer import RescuerLoop
from noonmark.node.loops.tenants import TenantsLoop
from noonmark.node.loops.ticker import TickerLoop
from noonmark.node.loops.upkeep import UpkeepLoop
from noonmark.node.loops.zones import ZonesLoop
from noonmark.node.metrics import NodeMetrics


def every_loop(life: Life, notifier: NotifierLoop, metrics: NodeMetrics) -> list[Loop]:
    deliverer = DelivererLoop(life, notifier.subscribed)
    loops: list[Loop] = [
        OwnershipLoop(life),
        ReaperLoop(life),
        TickerLoop(life),
        RescuerLoop(life),
        HearingLoop(life),
        TenantsLoop(life),
        InboxLoop(life),
        UpkeepLoop(life),
        ZonesLoop(life),
        LagLoop(metrics.loop_lag_seconds.observe),
        notifier,
        deliverer,
        DeliveryHeartbeatLoop(life, deliverer),
    ]
    for loop in loops:
        loop.on_tick = metrics.note_tick
    return loops
