"""Times of day and dates in the forms that English has, with the German ones."""
import datetime

HOURS = "zwölf eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
ENGLISH_HOURS = "twelve one two three four five six seven eight nine ten eleven twelve".split()
SUFFIXES = [(" a.m.", " p.m.")] * 4 + [(" am", " pm")] * 4 + [(" AM", " PM")] * 2 + [("am", "pm")] * 2
DAYS = list(zip("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
                "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split()))
MONTHS = list(zip("January February March April May June July August September October November December".split(),
                  "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()))
MINUTES = [15, 30, 45, 0, 10, 20, 40, 50, 5, 25, 35, 55]


def minutes(rng):
    return rng.choice(MINUTES[:3]) if rng.random() < 0.5 else rng.choice(MINUTES + [rng.randrange(1, 60)])


def clock(hour, minute=None):
    """Returns a time in English without suffix (12 hours) and in German (24 hours) without "Uhr"."""
    english = str((hour + 11) % 12 + 1)
    if minute is None:
        return english, str(hour)
    return f"{english}:{minute:02}", f"{hour}:{minute:02}"


def suffixed(rng, hour, minute=None):
    english, german = clock(hour, minute)
    return english + rng.choice(SUFFIXES)[hour >= 12], german + " Uhr"


def spoken(rng):
    """Returns a time in words: half past seven, a quarter to nine, ten past four, seven o'clock."""
    hour = rng.randrange(1, 13)
    following = hour % 12 + 1
    kind = rng.randrange(8)
    if kind < 2:
        return f"half past {ENGLISH_HOURS[hour]}", f"halb {HOURS[following]}"
    if kind < 4:
        past = rng.random() < 0.5
        a = rng.choice(["a quarter", "quarter"])
        return (f"{a} past {ENGLISH_HOURS[hour]}", f"Viertel nach {HOURS[hour]}") if past else (
            f"{a} to {ENGLISH_HOURS[hour]}", f"Viertel vor {HOURS[hour]}")
    if kind < 6:
        english, german = rng.choice([("five", "fünf"), ("ten", "zehn"), ("twenty", "zwanzig")])
        past = rng.random() < 0.5
        return (f"{english} past {ENGLISH_HOURS[hour]}", f"{german} nach {HOURS[hour]}") if past else (
            f"{english} to {ENGLISH_HOURS[hour]}", f"{german} vor {HOURS[hour]}")
    if kind == 6:
        return f"{ENGLISH_HOURS[hour]} o'clock", f"{HOURS[hour].replace('eins', 'ein')} Uhr"
    return f"{hour} o'clock", f"{hour} Uhr"


def time(rng):
    """Returns a time that stands behind "at" and "um"."""
    kind = rng.random()
    if kind < 0.20:
        return spoken(rng)
    if kind < 0.26:
        return rng.choice([("noon", "12 Uhr"), ("midnight", "Mitternacht"), ("12 noon", "12 Uhr")])
    if kind < 0.36:
        hour, minute = rng.randrange(24), minutes(rng)
        return f"{hour}:{minute:02}", f"{hour}:{minute:02} Uhr"
    hour = rng.choice([*range(6, 24), *range(1, 24), 0])
    if kind < 0.60 and hour not in (0, 12):
        return suffixed(rng, hour)
    return suffixed(rng, hour, minutes(rng))


def hours_of(rng, first, last):
    """Returns two times with "am" or "pm" as needed, in English, and in German without the first "Uhr"."""
    with_minutes = rng.random() < 0.4
    marks = rng.choice(SUFFIXES)
    a, german_a = clock(first, rng.choice([0, 15, 30, 45]) if with_minutes and rng.random() < 0.7 else None)
    b, german_b = clock(last, rng.choice([0, 15, 30, 45]) if with_minutes and rng.random() < 0.7 else None)
    if ":" in german_a and ":" not in german_b and german_a.endswith(":00"):
        a, german_a = clock(first)
    half_a, half_b = marks[first >= 12], marks[last >= 12]
    if half_a == half_b and rng.random() < 0.6:
        half_a = ""
    if last == 12 and ":" not in german_b:
        b, half_b = "noon", ""
        half_a = half_a or marks[0]
    if first == 12 and ":" not in german_a:
        a, half_a = "noon", ""
    return a + half_a, b + half_b, german_a, german_b


def span(rng):
    """Returns (first hour, last hour) of a day's opening time, class, shift or break."""
    first = rng.choice([*range(6, 13), *range(7, 20)])
    return first, rng.randrange(first + 1, min(24, first + 11))


def hours(rng):
    """Returns "from 9 am to 5 pm" and "von 9 bis 17 Uhr"."""
    if rng.random() < 0.12:
        first, last = span(rng)
        minute = rng.choice(["00", "30"])
        return f"from {first}:{minute} to {last}:00", f"von {first}:{minute} bis {last}:00 Uhr"
    a, b, german_a, german_b = hours_of(rng, *span(rng))
    word = rng.choice(["to", "to", "to", "until", "till"])
    return f"from {a} {word} {b}", f"von {german_a} bis {german_b} Uhr"


def between(rng):
    a, b, german_a, german_b = hours_of(rng, *span(rng))
    return f"between {a} and {b}", f"zwischen {german_a} und {german_b} Uhr"


def two_times(rng):
    a, b, german_a, german_b = hours_of(rng, *span(rng))
    return f"{a} and {b}", f"{german_a} und {german_b} Uhr"


def exact(rng):
    return suffixed(rng, rng.randrange(5, 24), minutes(rng))


def night(rng):
    """Returns a span of time that passes midnight."""
    first, last = rng.choice([20, 21, 22, 23, 18, 19]), rng.choice([3, 4, 5, 6, 7, 8])
    marks = rng.choice(SUFFIXES)
    return f"from {first - 12}{marks[1]} to {last}{marks[0]}", f"von {first} bis {last} Uhr"


def dash(rng):
    a, b, german_a, german_b = hours_of(rng, *span(rng))
    mark = rng.choice(["–", "-", " – ", " - "])
    return f"{a}{mark}{b}", f"{german_a}–{german_b} Uhr"


def ordinal(day):
    return f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def random_day(rng):
    return datetime.date(rng.randrange(2019, 2033), 1, 1) + datetime.timedelta(rng.randrange(365))


def plain(rng, day, year):
    """Returns a date in one of the English forms."""
    month = MONTHS[day.month - 1][0]
    if rng.random() < 0.12:
        month = month[:3] + ("." if rng.random() < 0.5 and month != "May" else "")
    form = rng.choice(["{m} {d}", "{m} {o}", "{d} {m}", "{o} {m}", "{m} {d}", "the {o} of {m}"])
    text = form.format(m=month, d=day.day, o=ordinal(day.day))
    if not year:
        return text
    return f"{text}, {day.year}" if text.startswith(month) else f"{text} {day.year}"


def german(day, year):
    return f"{day.day}. {MONTHS[day.month - 1][1]}" + (f" {day.year}" if year else "")


def date(rng):
    """Returns a date that stands behind "on" and "am"."""
    day, year = random_day(rng), rng.random() < 0.3
    kind = rng.random()
    if kind < 0.12:
        while day.day < 13:
            day = random_day(rng)
        return f"{day.month}/{day.day}/{day.year}", f"{day.day}.{day.month}.{day.year}"
    if kind < 0.45:
        weekday = DAYS[day.weekday()]
        text = plain(rng, day, year)
        comma = "," if rng.random() < 0.8 or not text[0].isdigit() else ""
        return f"{weekday[0]}{comma} {text}", f"{weekday[1]}, dem {german(day, year)}"
    return plain(rng, day, year), german(day, year)


def until(rng):
    """Returns a date behind "by" and "bis": Friday, May 8 -> Freitag, den 8. Mai."""
    day = random_day(rng)
    if rng.random() < 0.5:
        weekday = DAYS[day.weekday()]
        return f"{weekday[0]}, {plain(rng, day, False)}", f"{weekday[1]}, den {german(day, False)}"
    return plain(rng, day, False), f"zum {german(day, False)}"


def full(rng):
    """Returns a date without weekday."""
    day, year = random_day(rng), rng.random() < 0.6
    return plain(rng, day, year), german(day, year)


def is_date(rng):
    """Returns a date behind "is" and "ist": Friday, May 8 -> Freitag, der 8. Mai."""
    day, year = random_day(rng), rng.random() < 0.2
    if rng.random() < 0.6:
        weekday = DAYS[day.weekday()]
        return f"{weekday[0]}, {plain(rng, day, year)}", f"{weekday[1]}, der {german(day, year)}"
    return plain(rng, day, year), f"der {german(day, year)}"


def moved(rng):
    """Returns a moment behind "moved to" and "auf"."""
    day, (english, german_time) = random_day(rng), suffixed(rng, rng.randrange(8, 20), minutes(rng))
    weekday = DAYS[day.weekday()]
    kind = rng.randrange(4)
    if kind == 0:
        return f"{english} on {weekday[0]}, {plain(rng, day, False)}", f"{weekday[1]}, den {german(day, False)}, um {german_time}"
    if kind == 1:
        return f"{weekday[0]}, {plain(rng, day, False)}", f"{weekday[1]}, den {german(day, False)}"
    if kind == 2:
        return f"{weekday[0]} at {english}", f"{weekday[1]} um {german_time}"
    return f"{english} on {weekday[0]}", f"{weekday[1]} um {german_time}"


def period(rng):
    """Returns "from May 3 to May 9" and "vom 3. bis 9. Mai"."""
    day = random_day(rng)
    last = day + datetime.timedelta(rng.randrange(2, 40))
    (month_a, german_a), (month_b, german_b) = MONTHS[day.month - 1], MONTHS[last.month - 1]
    word = rng.choice(["to", "to", "until"])
    if rng.random() < 0.5:
        english = f"from {month_a} {day.day} {word} {month_b} {last.day}"
    else:
        english = f"from {day.day} {month_a} {word} {last.day} {month_b}"
    if month_a == month_b:
        if english.endswith(month_b) and rng.random() < 0.5:
            english = f"from {day.day} {word} {last.day} {month_b}"
        return english, f"vom {day.day}. bis {last.day}. {german_b}"
    return english, f"vom {day.day}. {german_a} bis {last.day}. {german_b}"


SLOTS = {"time": time, "spoken": spoken, "hours": hours, "between": between, "times": two_times, "clock": exact, "night": night, "dash": dash, "date": date,
         "until": until, "full": full, "is": is_date, "moved": moved, "period": period, "day": DAYS, "month": MONTHS,
         "year": [(str(y), str(y)) for y in range(1950, 2031)],
         "days": [(f"{e}s", f"{g}s".lower()) for e, g in DAYS],
         "pm": lambda rng: suffixed(rng, rng.randrange(13, 24), minutes(rng) if rng.random() < 0.6 else None),
         "am": lambda rng: suffixed(rng, rng.randrange(4, 12), minutes(rng) if rng.random() < 0.6 else None)}
