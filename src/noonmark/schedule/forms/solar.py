"""Occurrences by the sun at a place, with the times of the astral library."""

from functools import lru_cache
from math import degrees

import msgspec
from astral import SunDirection, refraction_at_zenith
from astral.julian import julianday_to_juliancentury
from astral.sun import SUN_APPARENT_RADIUS, eq_of_time, hour_angle, sun_declination

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.period import offset_s
from noonmark.schedule.pattern import Stepping
from noonmark.schedule.spec import SunEvent

_SECOND_US = 1_000_000
_SEARCH_DAYS = 400  # longer than any polar night
_LAST_DAY = 84_005  # 2199-12-31
_EPOCH_JULIAN_DAY = 2_440_587.5
_NEAR_POLE = 89.8  # degrees; at the pole itself the sun has no direction
_SUN_BELOW_HORIZON = {
    "dawn": (6.0, SunDirection.RISING),
    "sunrise": (SUN_APPARENT_RADIUS, SunDirection.RISING),
    "sunset": (SUN_APPARENT_RADIUS, SunDirection.SETTING),
    "dusk": (6.0, SunDirection.SETTING),
}


class SolarRecurrence(Stepping, msgspec.Struct, frozen=True):
    """So many seconds after an event of each day; no occurrence on a day without the event, near the poles.

    Dawn and dusk are civil: the sun stands 6° below the horizon.
    """

    event: SunEvent
    latitude: float
    longitude: float
    offset_s: int = 0
    jitter_us: int = 0

    def next_after(self, t_us: int) -> int | None:
        first = self._day_of(t_us)
        for day in range(max(first - 1, 0), min(first + _SEARCH_DAYS, _LAST_DAY + 1)):
            at_us = self._at(day)
            if at_us is not None and at_us > t_us:
                return at_us
        return None

    def previous_before(self, t_us: int) -> int | None:
        last = self._day_of(t_us)
        for day in range(min(last + 1, _LAST_DAY), max(last - _SEARCH_DAYS, -1), -1):
            at_us = self._at(day)
            if at_us is not None and at_us < t_us:
                return at_us
        return None

    def _day_of(self, t_us: int) -> int:
        """The day of the clock that shows 12 when the sun stands highest, nearly; wrong by one at most."""
        return (t_us // _SECOND_US - self.offset_s + round(self.longitude * 240)) // 86_400

    def _at(self, day: int) -> int | None:
        event_s = _event_s(self.event, self.latitude, self.longitude, day)
        return None if event_s is None else (event_s + self.offset_s) * _SECOND_US


def solar_body(event: SunEvent, latitude: float, longitude: float, offset: str | int) -> str:
    """The body of the interned text, such as `sunrise 52.52,13.405 -1800`; or a ScheduleError."""
    if not -90 <= latitude <= 90:
        raise ScheduleError("schedule.latitude", f"{latitude} is not a latitude", "use degrees from -90 to 90")
    if not -180 <= longitude <= 180:
        raise ScheduleError("schedule.longitude", f"{longitude} is not a longitude", "use degrees from -180 to 180")
    body = f"{event} {_degrees(latitude)},{_degrees(longitude)} {offset_s(offset)}"
    if read_solar(body).next_after(0) is None:
        raise ScheduleError("schedule.solar", f"there is no {event} at this place", "use another place or event")
    return body


def read_solar(text: str, jitter_us: int = 0) -> SolarRecurrence:
    """Reads what `solar_body` wrote."""
    event, place, offset = text.split(" ")
    latitude, longitude = map(float, place.split(","))
    if event != "noon" and event not in _SUN_BELOW_HORIZON:
        raise ValueError(f"{text!r} names no event of the sun")
    return SolarRecurrence(msgspec.convert(event, SunEvent), latitude, longitude, int(offset), jitter_us)


def _degrees(value: float) -> str:
    return f"{round(value, 4) + 0.0:.4f}".rstrip("0").rstrip(".")  # + 0.0 turns -0.0 into 0.0; 0.0001° are 11 m


@lru_cache(maxsize=4_096)
def _event_s(event: SunEvent, latitude: float, longitude: float, day: int) -> int | None:
    """The second of an event of a solar day; None if the sun does not pass that height on it.

    astral's own search answers by the UTC date and so loses the event that comes round to midnight, such as a sunrise
    near 90° east. Ours takes the same steps, but counts from the solar noon.
    """
    below, direction = _SUN_BELOW_HORIZON.get(event, (0.0, None))
    zenith = 90 + below + refraction_at_zenith(90 + below)
    latitude = max(min(latitude, _NEAR_POLE), -_NEAR_POLE)
    minutes = 720 - 4 * longitude
    for _ in range(3):
        century = julianday_to_juliancentury(_EPOCH_JULIAN_DAY + day + minutes / 1_440)
        try:
            angle = hour_angle(latitude, sun_declination(century), zenith, direction) if direction else 0
        except ValueError:
            return None
        minutes = 720 - 4 * (longitude + degrees(angle)) - eq_of_time(century)
    return day * 86_400 + round(minutes * 60)
