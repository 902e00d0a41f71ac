"""Writes periods.json: the calendar periods of budgets, computed by datetime and zoneinfo.

python3 generate.py > periods.json
"""

import json
import random
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

# Clocks that change at midnight, by half an hour or over a date line, are among them.
ZONES = [
    "Africa/Cairo",
    "America/Asuncion",
    "America/Havana",
    "America/Los_Angeles",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Lisbon",
    "Pacific/Apia",
    "Pacific/Auckland",
    "Pacific/Kiritimati",
    "UTC",
]
SECOND = timedelta(seconds=1)


def period(kind: str, day: date) -> tuple[date, date]:
    if kind == "day":
        return day, day + timedelta(days=1)
    if kind == "week":
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(days=7)
    if kind == "month":
        first = day.replace(day=1)
        return first, (first + timedelta(days=32)).replace(day=1)
    return date(day.year, 1, 1), date(day.year + 1, 1, 1)


def changes(zone: ZoneInfo, year: int) -> list[datetime]:
    """The hours at which the offset of a zone changes."""
    hour = datetime(year, 1, 1, tzinfo=timezone.utc)
    found = []
    while hour.year == year:
        if hour.astimezone(zone).utcoffset() != (hour + timedelta(hours=1)).astimezone(zone).utcoffset():
            found.append(hour + timedelta(hours=1))
        hour += timedelta(hours=1)
    return found


def main() -> None:
    dice = random.Random(20261128)
    cases = []
    for name in ZONES:
        zone = ZoneInfo(name)
        instants = []
        for year in (2011, 2018, 2024):
            for at in changes(zone, year):
                instants += [at - SECOND, at, at + timedelta(hours=dice.randrange(1, 30))]
            # The first days of an ISO week that belongs to two years, and the turn of the year itself.
            for day in (date(year, 1, 1), date(year, 12, 31), date(year, 2, 28), date(year, dice.randrange(1, 13), 1)):
                midnight = datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(timezone.utc)
                instants += [midnight - SECOND, midnight]
            instants.append(datetime(year, dice.randrange(1, 13), dice.randrange(1, 29), dice.randrange(24), tzinfo=timezone.utc))
        for at in instants:
            day = at.astimezone(zone).date()
            for kind in ("day", "week", "month", "year"):
                start, end = period(kind, day)
                cases.append([kind, name, at.strftime("%Y-%m-%dT%H:%M:%SZ"), start.isoformat(), end.isoformat()])
    provenance = (
        f"{len(cases)} periods of budgets around changes of clocks and turns of months and years, computed by Python's "
        "datetime and zoneinfo: see generate.py. Each: kind, zone, instant, the date on which its period begins, and the "
        "date on which the next one begins. A week begins on Monday."
    )
    lines = ",\n".join(json.dumps(case) for case in cases)
    sys.stdout.write(f'{{"provenance": {json.dumps(provenance)},\n"periods": [\n{lines}\n]}}\n')


main()
