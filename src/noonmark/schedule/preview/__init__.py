"""What a schedule would do: its next fires, a sentence, and what its owner may not expect of it."""

from noonmark.schedule.preview.compose import preview
from noonmark.schedule.preview.crowd import CROWD, crowded
from noonmark.schedule.preview.fires import fires_at
from noonmark.schedule.preview.model import MAX_FIRES, Fire, Notice, Preview

__all__ = ["CROWD", "MAX_FIRES", "Fire", "Notice", "Preview", "crowded", "fires_at", "preview"]
