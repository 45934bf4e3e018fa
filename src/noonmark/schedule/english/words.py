"""The vocabulary: words that the grammar knows, and numbers and lists in words."""

from collections.abc import Iterable

WEEKDAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
MONTH_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
WORKDAYS = frozenset(range(1, 6))
WEEKEND = frozenset({0, 6})
_ORDINAL_TEXT = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
)
_ORDINAL_WORDS = _ORDINAL_TEXT.split()
_NUMBER_TEXT = "one two three four five six seven eight nine ten eleven twelve"


def _names(names: Iterable[str], start: int, *more: tuple[str, int]) -> dict[str, int]:
    found = {name.lower(): number for number, name in enumerate(names, start)}
    found |= {name[:3]: number for name, number in found.items()}
    return found | dict(more)


MONTHS = _names(MONTH_NAMES, 1, ("sept", 9))
_SINGLE_DAYS = _names(WEEKDAY_NAMES, 0, ("tues", 2), ("weds", 3), ("thur", 4), ("thurs", 4))
_SINGLE_DAYS |= {f"{name.lower()}s": number for number, name in enumerate(WEEKDAY_NAMES)}
WEEKDAYS = {name: frozenset({number}) for name, number in _SINGLE_DAYS.items()} | {
    "weekday": WORKDAYS,
    "weekdays": WORKDAYS,
    "workday": WORKDAYS,
    "workdays": WORKDAYS,
    "weekend": WEEKEND,
    "weekends": WEEKEND,
}
ORDINALS = {word: number for number, word in enumerate(_ORDINAL_WORDS, 1)}
NUMBERS = {word: number for number, word in enumerate(_NUMBER_TEXT.split(), 1)} | {
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty-five": 45,
    "sixty": 60,
    "ninety": 90,
}
UNITS = {
    word: unit
    for unit, words in {
        "second": "second seconds sec secs",
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs",
        "day": "day days",
        "week": "week weeks",
        "month": "month months",
        "quarter": "quarter quarters",
        "year": "year years",
    }.items()
    for word in words.split()
}
SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
LETTERS = {"second": "s", "minute": "m", "hour": "h", "day": "d", "week": "w"}
FREQUENCIES = {
    "hourly": (1, "hour"),
    "daily": (1, "day"),
    "nightly": (1, "day"),
    "weekly": (1, "week"),
    "fortnightly": (2, "week"),
    "monthly": (1, "month"),
    "quarterly": (1, "quarter"),
    "yearly": (1, "year"),
    "annually": (1, "year"),
}
COUNTS = {"once": 1, "twice": 2, "thrice": 3}
TWO_MEANINGS = {
    "biweekly": "write 'every 2 weeks' or 'twice a week'",
    "bimonthly": "write 'every 2 months' or 'twice a month'",
    "biannually": "write 'every 6 months' or 'every 2 years'",
    "semiweekly": "write 'twice a week'",
}
QUARTER_STARTS, QUARTER_ENDS = (1, 4, 7, 10), (3, 6, 9, 12)
DAY_WORDS = "a day such as 'monday', 'weekdays', 'the 15th' or 'the last friday'"


def ordinal(number: int) -> str:
    """1st, 22nd, 13th."""
    suffix = "th" if 10 < number % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def ordinal_word(number: int) -> str:
    return _ORDINAL_WORDS[number - 1] if 0 < number <= len(_ORDINAL_WORDS) else ordinal(number)


def listed(words: Iterable[str], last: str = "and") -> str:
    """a, b and c."""
    *most, end = words
    return f"{', '.join(most)} {last} {end}" if most else end


def counted(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
