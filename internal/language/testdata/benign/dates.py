#: dates-parse-and-format
#: strptime, strftime, ISO forms, time zones and differences.
from datetime import datetime, date, time, timedelta, timezone

formats = {"%d.%m.%Y": "24.12.2023", "%Y/%m/%d %H:%M": "2024/02/29 23:59", "%b %d, %Y": "Mar 05, 2021", "%Y-%m-%dT%H:%M:%S%z": "2024-01-01T12:00:00+0200", "%j %Y": "060 2024"}
parsed = {f: datetime.strptime(text, f) for f, text in formats.items()}


def guess(text):
    for f in formats:
        try:
            return datetime.strptime(text, f).date().isoformat()
        except ValueError:
            continue
    return None


def human(delta):
    seconds = int(delta.total_seconds())
    parts = []
    for name, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        n, seconds = divmod(seconds, size)
        if n:
            parts.append(f"{n}{name}")
    return " ".join(parts) or "0s"


cet = timezone(timedelta(hours=1), "CET")
meeting = datetime(2024, 3, 1, 9, 30, tzinfo=cet)
result = {
    "parsed": [p.isoformat() for p in parsed.values()],
    "guess": [guess("01.02.2003"), guess("someday")],
    "utc": meeting.astimezone(timezone.utc).isoformat(),
    "name": meeting.tzname(),
    "human": human(datetime(2024, 3, 1) - datetime(2024, 2, 27, 13, 59, 58)),
    "format": f"{meeting:%A %d %B %Y, %H:%M}",
    "iso": [date.fromisoformat("2024-12-30").isocalendar()[1], time.fromisoformat("04:23:01").minute],
    "stamp": datetime.fromtimestamp(86400 * 365, timezone.utc).year,
    "replace": meeting.replace(hour=23, microsecond=5).time().isoformat(),
    "order": sorted([date(2024, 1, 2), date(2023, 5, 5)])[0].strftime("%y%m%d"),
    "leap": (date(2024, 3, 1) - date(2024, 2, 1)).days,
    "combine": datetime.combine(date(2020, 1, 1), time(6, 7)).isoformat(" ", "minutes"),
}
#= {"parsed": ["2023-12-24T00:00:00", "2024-02-29T23:59:00", "2021-03-05T00:00:00", "2024-01-01T12:00:00+02:00", "2024-02-29T00:00:00"], "guess": ["2003-02-01", null], "utc": "2024-03-01T08:30:00+00:00", "name": "CET", "human": "2d 10h 2s", "format": "Friday 01 March 2024, 09:30", "iso": [1, 23], "stamp": 1971, "replace": "23:30:00.000005", "order": "230505", "leap": 29, "combine": "2020-01-01 06:07"}

#: dates-recurring
#: Month arithmetic, business days, recurring events and age.
import calendar
from datetime import date, timedelta
from itertools import islice


def add_months(d, n):
    month = d.month - 1 + n
    year, month = d.year + month // 12, month % 12 + 1
    return d.replace(year=year, month=month, day=min(d.day, calendar.monthrange(year, month)[1]))


def business_days(start, holidays=frozenset()):
    day = start
    while True:
        if day.weekday() < 5 and day not in holidays:
            yield day
        day += timedelta(days=1)


def nth_weekday(year, month, weekday, n):
    days = [w[weekday] for w in calendar.monthcalendar(year, month) if w[weekday]]
    return date(year, month, days[n])


def easter(year):
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    l = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * l) // 451
    month, day = divmod(h + l - 7 * m + 114, 31)
    return date(year, month, day + 1)


def age(born, on):
    return on.year - born.year - ((on.month, on.day) < (born.month, born.day))


holidays = {date(2024, 5, 1), date(2024, 5, 9)}
work = list(islice(business_days(date(2024, 4, 30), holidays), 7))
result = {
    "months": [str(add_months(date(2024, 1, 31), n)) for n in (1, 13, -2)],
    "work": [d.strftime("%a %d") for d in work],
    "thanksgiving": str(nth_weekday(2024, 11, calendar.THURSDAY, 3)),
    "last_friday": str(nth_weekday(2024, 5, calendar.FRIDAY, -1)),
    "easter": [str(easter(y)) for y in (2023, 2024, 2025)],
    "age": [age(date(2000, 2, 29), date(2024, 2, 28)), age(date(2000, 2, 29), date(2024, 3, 1))],
}
#= {"months": ["2024-02-29", "2025-02-28", "2023-11-30"], "work": ["Tue 30", "Thu 02", "Fri 03", "Mon 06", "Tue 07", "Wed 08", "Fri 10"], "thanksgiving": "2024-11-28", "last_friday": "2024-05-31", "easter": ["2023-04-09", "2024-03-31", "2025-04-20"], "age": [23, 24]}

#: calendar-pages
#: The calendar module: text pages, iteration and leap years.
import calendar
from datetime import date

cal = calendar.TextCalendar(firstweekday=calendar.MONDAY)
page = cal.formatmonth(2024, 2)


class Planner(calendar.Calendar):
    def __init__(self, events):
        super().__init__(firstweekday=6)
        self.events = events

    def weeks(self, year, month):
        for week in self.monthdatescalendar(year, month):
            yield "".join(self.cell(d, month) for d in week)

    def cell(self, day, month):
        if day.month != month:
            return "   "
        mark = "*" if day in self.events else " "
        return f"{day.day:2d}{mark}"


planner = Planner({date(2024, 2, 14), date(2024, 2, 29)})
result = {
    "page": page.splitlines(),
    "planner": list(planner.weeks(2024, 2)),
    "leap": [y for y in range(1896, 1912) if calendar.isleap(y)],
    "leapdays": calendar.leapdays(2000, 2024),
    "range": calendar.monthrange(2023, 2),
    "names": [calendar.day_abbr[0], calendar.month_name[12]],
    "weekday": calendar.weekday(2024, 7, 4),
    "days": [d for d in cal.itermonthdays(2024, 9) if d][-1],
    "epoch": calendar.timegm((1970, 1, 2, 0, 0, 0)),
}
#= {"page": ["   February 2024", "Mo Tu We Th Fr Sa Su", "          1  2  3  4", " 5  6  7  8  9 10 11", "12 13 14 15 16 17 18", "19 20 21 22 23 24 25", "26 27 28 29"], "planner": ["             1  2  3 ", " 4  5  6  7  8  9 10 ", "11 12 13 14*15 16 17 ", "18 19 20 21 22 23 24 ", "25 26 27 28 29*      "], "leap": [1896, 1904, 1908], "leapdays": 6, "range": [2, 28], "names": ["Mon", "December"], "weekday": 3, "days": 30, "epoch": 86400}

#: dates-work-log
#: A work log with shifts over midnight, rounding and weekly totals.
from collections import defaultdict
from datetime import datetime, timedelta

LOG = """
2024-05-06 08:52 - 12:01 review
2024-05-06 12:45 - 17:20 build
2024-05-07 22:30 - 01:15 deploy
2024-05-13 09:00 - 09:07 mail
"""


class Shift:
    STEP = timedelta(minutes=15)

    def __init__(self, start, end, what):
        self.start, self.end, self.what = start, end, what

    @classmethod
    def parse(cls, line):
        day, begin, _, stop, what = line.split(maxsplit=4)
        start = datetime.strptime(f"{day} {begin}", "%Y-%m-%d %H:%M")
        end = datetime.strptime(f"{day} {stop}", "%Y-%m-%d %H:%M")
        if end < start:
            end += timedelta(days=1)
        return cls(start, end, what)

    @property
    def length(self):
        return self.end - self.start

    @property
    def billed(self):
        return -(-self.length // self.STEP) * self.STEP

    def overlaps(self, other):
        return self.start < other.end and other.start < self.end


shifts = [Shift.parse(line) for line in LOG.strip().splitlines()]
weeks = defaultdict(timedelta)
for s in shifts:
    year, week, _ = s.start.isocalendar()
    weeks[f"{year}-W{week}"] += s.billed
total = sum((s.length for s in shifts), timedelta())
longest = max(shifts, key=lambda s: s.length)
result = {
    "weeks": {k: v / timedelta(hours=1) for k, v in weeks.items()},
    "total": str(total),
    "longest": longest.what,
    "night": shifts[2].end.isoformat(),
    "overlap": any(a.overlaps(b) for i, a in enumerate(shifts) for b in shifts[i + 1:]),
    "days": sorted({s.start.strftime("%a") for s in shifts}),
}
#= {"weeks": {"2024-W19": 10.75, "2024-W20": 0.25}, "total": "10:36:00", "longest": "build", "night": "2024-05-08T01:15:00", "overlap": false, "days": ["Mon", "Tue"]}
