"""Writes calendar.json: 10,000 random schedules over 20 years, computed by python-dateutil and zoneinfo.

    pip install python-dateutil tzdata==2026.3
    PYTHONTZPATH= python3 vectors/schedules/generate.py

The years are past, so that rules of time zones that governments change later don't change the answers. The words are
computed with relativedelta from the anchor, recurrence rules with rrule on local times, and local times become UTC with
`fold=0`: a time that the clocks skip by the offset before, a time that they repeat by the first of both.
"""

import hashlib
import json
import random
import zoneinfo
from bisect import bisect_right
from datetime import datetime, timedelta, timezone
from pathlib import Path

import dateutil
import tzdata
from dateutil.relativedelta import relativedelta
from dateutil.rrule import rrulestr

COUNT = 10_000
SAMPLES = 10
INSTANTS = 3
MOST_ODD = 4
FROM = datetime(2005, 1, 1, tzinfo=timezone.utc)
UNTIL = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
EPOCH = datetime(1970, 1, 1)

chance = random.Random(20261122)
# Zones whose clocks moved in other ways than by an hour in spring and autumn, and whose clocks never did.
SPECIAL = [
    "Pacific/Apia", "Pacific/Fakaofo", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Caracas", "Africa/Casablanca",
    "Europe/Istanbul", "Asia/Gaza", "America/Scoresbysund", "Africa/Cairo", "Asia/Pyongyang", "Europe/Dublin",
    "America/Havana", "America/Santiago", "Antarctica/Troll", "Asia/Tehran", "Asia/Kolkata", "Pacific/Chatham", "UTC",
    "Europe/Berlin", "America/New_York", "America/St_Johns", "Atlantic/Azores", "Europe/Moscow", "America/Asuncion",
]
ZONES = sorted(set(SPECIAL) | set(chance.sample(sorted(z for z in zoneinfo.available_timezones() if "/" in z), 125)))


def interval():
    return chance.choice([1, 1, 1, 2, 3, 4, 5, 6, 12])


def month_days(lowest):
    days = [chance.choice([1, 5, 15, 28, 29, 30, 31, -1, lowest, chance.randint(1, 31)]) for _ in range(chance.randint(1, 3))]
    return list(dict.fromkeys(days))


def week_days(ordinals):
    some = chance.sample(DAYS, chance.randint(1, 5))
    if not ordinals or chance.random() < 0.3:
        return some
    return [f"{chance.choice([1, 2, 3, 4, 5, -1, -2])}{day}" for day in some[:2]]


def random_frequency():
    """Of the words as many as of the rules."""
    if chance.random() < 0.5:
        return chance.choice(["daily", "weekly", "monthly", "monthly", "quarterly", "yearly"])
    unit = chance.choice(["DAILY", "WEEKLY", "MONTHLY", "MONTHLY", "MONTHLY", "YEARLY", "YEARLY"])
    parts = {"FREQ": unit}
    every = interval()
    if every > 1 or chance.random() < 0.2:
        parts["INTERVAL"] = every
    if unit == "WEEKLY" and chance.random() < 0.8:
        parts["BYDAY"] = week_days(False)
        if chance.random() < 0.4:
            parts["WKST"] = chance.choice(DAYS)
    if unit in ("MONTHLY", "YEARLY"):
        skips = chance.random() < 0.4
        if unit == "YEARLY" and chance.random() < 0.8:
            parts["BYMONTH"] = chance.sample(range(1, 13), chance.randint(1, 4))
        if unit == "MONTHLY" or "BYMONTH" in parts:
            kind = chance.choice(["none", "days", "weekdays", "both"])
            if kind in ("days", "both"):
                parts["BYMONTHDAY"] = month_days(-28 if skips else -31)
            if kind in ("weekdays", "both"):
                parts["BYDAY"] = week_days(kind == "weekdays")
            if kind != "none" and chance.random() < 0.3:
                parts["BYSETPOS"] = chance.choice([[1], [-1], [2], [1, -1]])
        if skips:
            parts["RSCALE"], parts["SKIP"] = "GREGORIAN", "BACKWARD"
    return ";".join(f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}" for name, value in parts.items())


def by_word(word, start, until):
    step = {
        "daily": lambda n: relativedelta(days=n),
        "weekly": lambda n: relativedelta(weeks=n),
        "monthly": lambda n: relativedelta(months=n),
        "quarterly": lambda n: relativedelta(months=3 * n),
        "yearly": lambda n: relativedelta(years=n),
    }[word]
    found = []
    while not found or found[-1] < until:
        found.append(start + step(len(found)))
    return found


def by_skipping_backward(text, start, until):
    """RFC 7529: a day that its month lacks is the month's last one, before BYDAY and BYSETPOS choose."""
    parts = dict(part.split("=") for part in text.split(";"))
    numbers = lambda name: [int(one) for one in parts[name].split(",")] if name in parts else []
    every = int(parts.get("INTERVAL", 1))
    yearly = parts["FREQ"] == "YEARLY"
    days = numbers("BYMONTHDAY") or ([] if "BYDAY" in parts else [start.day])
    period = start.replace(day=1, month=1 if yearly else start.month)
    found = []
    while period <= until:
        dates = set()
        for month in sorted(numbers("BYMONTH") or [start.month]) if yearly else [period.month]:
            first = period.replace(month=month)
            last = (first + relativedelta(day=31)).day
            candidates = {first + relativedelta(day=day) if day > 0 else first.replace(day=last + 1 + day) for day in days}
            for date in candidates or {first.replace(day=day) for day in range(1, last + 1)}:
                if "BYDAY" in parts:
                    position, from_end = (date.day + 6) // 7, -((last - date.day) // 7 + 1)
                    name = DAYS[date.weekday()]
                    if not {name, f"{position}{name}", f"{from_end}{name}"} & set(parts["BYDAY"].split(",")):
                        continue
                dates.add(date)
        ordered = sorted(dates)
        if "BYSETPOS" in parts and ordered:
            chosen = {position - 1 if position > 0 else len(ordered) + position for position in numbers("BYSETPOS")}
            ordered = [date for index, date in enumerate(ordered) if index in chosen]
        found += [date for date in ordered if date >= start]
        period += relativedelta(years=every) if yearly else relativedelta(months=every)
    return found


def local_times(frequency, start, until):
    if "FREQ" not in frequency:
        return by_word(frequency, start, until)
    if "SKIP" in frequency:
        return by_skipping_backward(frequency, start, until)
    found = []
    for one in rrulestr(frequency, dtstart=start).xafter(start, inc=True):
        found.append(one)
        if one >= until:
            break
    return found


def random_schedule(index):
    while True:
        frequency = random_frequency()
        zone = zoneinfo.ZoneInfo(ZONES[index % len(ZONES)])
        start = datetime(2005, 1, 1) + timedelta(days=chance.randint(0, 364))
        if chance.random() < 0.3:
            start += relativedelta(day=31)
        # Clocks are moved at night.
        start += timedelta(minutes=15 * chance.choice([chance.randint(0, 13), chance.randint(0, 95)]))
        horizon = UNTIL.replace(tzinfo=None) + timedelta(days=2)
        try:
            [start] = local_times(frequency, start, start + timedelta(days=5_000))[:1]
            found = local_times(frequency, start, horizon)
        except ValueError:
            continue
        # In a gap no clock shows it. Of a repeated time, the anchor may be the second.
        anchor = start.replace(tzinfo=zone, fold=chance.randint(0, 1)).astimezone(timezone.utc)
        is_shown = anchor.astimezone(zone).replace(tzinfo=None) == start
        if found[:1] == [start] and is_shown and FROM < anchor < FROM + timedelta(days=3_653):
            return frequency, anchor, zone, found


def seconds(time):
    return int(time.timestamp())


def main():
    rows = []
    for index in range(COUNT):
        frequency, anchor, zone, found = random_schedule(index)
        instants = [anchor] + [one.replace(tzinfo=zone).astimezone(timezone.utc) for one in found[1:]]
        count = bisect_right(instants, UNTIL - timedelta(seconds=1))
        odd = []
        for at in range(1, count):
            local = found[at].replace(tzinfo=zone)
            if local.utcoffset() != local.replace(fold=1).utcoffset():
                odd.append(at + 1)
        odd = sorted(chance.sample(odd, min(MOST_ODD, len(odd))))
        samples = [1 + (count - 1) * i // (SAMPLES - 1) for i in range(SAMPLES)] + odd
        # Every date counts: the sum changes when one is missing, added or moved.
        dates = sum((at + 1) * (one - EPOCH).days for at, one in enumerate(found[:count])) % 2**32
        asked = [FROM + (UNTIL - FROM) * (i + 1) / (INSTANTS + 1) for i in range(INSTANTS)]
        text = ";".join([
            str(dates),
            ",".join(f"{n}:{seconds(instants[n - 1])}" for n in samples),
            ",".join(f"{seconds(at)}:{bisect_right(instants, at)}" for at in asked),
        ])
        digest = hashlib.sha256(text.encode()).hexdigest()[:10]
        rows.append([frequency, seconds(anchor), ZONES.index(zone.key), count, odd, digest])
    about = (
        f"{COUNT} random schedules from {FROM:%Y} to {UNTIL:%Y}, computed by python-dateutil {dateutil.__version__} and "
        f"zoneinfo with tzdata {tzdata.IANA_VERSION}: see generate.py. Each: frequency, anchor in seconds since 1970, index of the "
        "zone, number of occurrences before the end, numbers of occurrences whose local time is skipped or repeated, and the "
        "first 10 digits of the SHA-256 (hex) of a text. The text: a sum over all dates, sampled occurrences with their "
        "times, and instants with the number of occurrences until then."
    )
    head = {
        "provenance": about, "from": seconds(FROM), "until": seconds(UNTIL), "samples": SAMPLES, "instants": INSTANTS, "zones": ZONES,
    }
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    text = json.dumps(head)[:-1] + ',\n"schedules": [\n' + lines + "\n]}\n"
    Path(__file__).with_name("calendar.json").write_text(text)


main()
