package compat_test

// The computational parts of the standard library. They need little from the kernel, but much
// from the private root: shared libraries, time zones, locales.

var _ = table("numbers",
	script{name: "decimal, fractions, statistics", result: `["0.3", "3.142857142857142857142857142857142857142857142857143", "5/6", 2, 2.5, "1.00E+3"]`, source: `
import decimal, statistics
from decimal import Decimal
from fractions import Fraction
with decimal.localcontext() as c:
    c.prec = 52
    long = str(Decimal(22) / 7)
result = [str(Decimal("0.1") + Decimal("0.2")), long, str(Fraction(1, 2) + Fraction(1, 3)),
          statistics.mode([1, 2, 2, 3]), statistics.median([1, 2, 3, 4]), str(Decimal("1000").quantize(Decimal("1E+1")))]
`},
	script{name: "math, cmath, numbers, operator", result: `[120, 6, 2.0, 1.0, true, 3.0]`, source: `
import cmath, math, numbers, operator
result = [math.factorial(5), math.gcd(12, 18), math.sqrt(4), round(abs(cmath.exp(1j)), 9), isinstance(1, numbers.Integral),
          operator.truediv(6, 2)]
`},
	script{name: "array, struct, bisect, heapq", result: `[[1, 2, 3], [1, 65535, 0.5], [1, 2, 3, 4], [1, 2, 3]]`, source: `
import array, bisect, heapq, struct
a = array.array("i", [1, 2]); a.append(3)
s = [1, 2, 4]; bisect.insort(s, 3)
h = [3, 1, 2]; heapq.heapify(h)
result = [a.tolist(), list(struct.unpack("<BHf", struct.pack("<BHf", 1, 65535, 0.5))), s, [heapq.heappop(h) for _ in range(3)]]
`},
	script{name: "random is seedable", result: `[true, 0.13436424411240122]`, source: `
import random
random.seed(7); a = [random.random(), random.sample(range(100), 3)]
random.seed(7); b = [random.random(), random.sample(range(100), 3)]
result = [a == b, random.Random(1).random()]
`},
)

var _ = table("time",
	script{name: "datetime", result: `["2024-02-29T12:00:00+00:00", 366, "Thursday", 86400.0]`, source: `
from datetime import date, datetime, timedelta, timezone
result = [datetime(2024, 2, 29, 12, tzinfo=timezone.utc).isoformat(), (date(2025, 1, 1) - date(2024, 1, 1)).days,
          date(2024, 2, 29).strftime("%A"), timedelta(days=1).total_seconds()]
`},
	script{name: "zoneinfo", result: `["2024-07-01T14:00:00+02:00", "CET", "2024-01-01T07:00:00-05:00", true, "12:00 JST"]`, source: `
from datetime import datetime, timezone
from zoneinfo import ZoneInfo, available_timezones
noon = datetime(2024, 7, 1, 12, tzinfo=timezone.utc)
result = [noon.astimezone(ZoneInfo("Europe/Berlin")).isoformat(),
          datetime(2024, 1, 1, tzinfo=ZoneInfo("Europe/Berlin")).tzname(),
          datetime(2024, 1, 1, 12, tzinfo=timezone.utc).astimezone(ZoneInfo("America/New_York")).isoformat(),
          len(available_timezones()) > 300,
          datetime(2024, 1, 1, 12, tzinfo=ZoneInfo("Asia/Tokyo")).strftime("%H:%M %Z")]
`},
	script{name: "no such zone", result: `"ZoneInfoNotFoundError"`, source: `
from zoneinfo import ZoneInfo
try: ZoneInfo("Mars/Olympus")
except KeyError as e: result = type(e).__name__
`},
	script{name: "local time is UTC", result: `[["UTC", "UTC"], 0, 0]`, source: `
import time
result = [time.tzname, time.timezone, time.localtime(0).tm_hour]
`},
	script{name: "tzset", result: `"CEST"`, source: `
import os, time
os.environ["TZ"] = "Europe/Berlin"
time.tzset()
result = time.strftime("%Z", time.localtime(1719835200))
`},
	script{name: "clocks", result: `[true, true, true, true, true]`, source: `
import time
a, b, c = time.monotonic(), time.perf_counter_ns(), time.process_time()
time.sleep(0.001)
result = [time.time() > 1.7e9, time.monotonic() > a, time.perf_counter_ns() > b, time.process_time() >= c, time.thread_time() >= 0]
`},
	script{name: "calendar, sched, timeit", result: `[29, "ab", true]`, source: `
import calendar, sched, timeit
out, s = [], sched.scheduler()
s.enterabs(2, 1, out.append, "b"); s.enterabs(1, 1, out.append, "a"); s.run()
result = [calendar.monthrange(2024, 2)[1], "".join(out), timeit.timeit("pass", number=10) >= 0]
`},
)

var _ = table("text",
	script{name: "re, string, textwrap, difflib", result: `[["1", "22"], "b-a", "hi  you", "aa\nbb", ["- a", "+ b"]]`, source: `
import difflib, re, string, textwrap
result = [re.findall(r"\d+", "a1b22"), re.sub(r"(?P<x>\w)-(\w)", r"\2-\g<x>", "a-b"),
          string.Template("hi $name").substitute(name=" you"), textwrap.fill("aa bb", 3),
          [l for l in difflib.ndiff(["a"], ["b"]) if l[0] in "+-"]]
`},
	script{name: "unicodedata and encodings", result: `["LATIN SMALL LETTER A WITH DIAERESIS", "a\u0308", "€", "gr\u00fc\u00df", "xn--mnchen-3ya", "あ"]`, source: `
import unicodedata
result = [unicodedata.name("ä"), unicodedata.normalize("NFD", "ä"), b"\x80".decode("cp1252"), b"gr\xfc\xdf".decode("latin-1"),
          "münchen".encode("idna").decode(), b"\x82\xa0".decode("shift_jis")]
`},
	script{name: "csv, json, configparser", result: `[[["a", "b,c"], ["1", "2"]], {"k": [1, null, true]}, "1"]`, source: `
import configparser, csv, io, json
c = configparser.ConfigParser(); c.read_string("[s]\nk = 1\n")
result = [list(csv.reader(io.StringIO('a,"b,c"\r\n1,2\r\n'))), json.loads(json.dumps({"k": [1, None, True]})), c["s"]["k"]]
`},
	script{name: "tomllib", since: 11, result: `{"a": {"b": [1, 2]}}`, source: `
import tomllib
result = tomllib.loads("[a]\nb = [1, 2]")
`},
	script{name: "xml and html", result: `["v", ["t", "u"], "x", "&lt;b&gt;", "<&>", ["a"]]`, source: `
import html, html.parser
import xml.dom.minidom, xml.sax
import xml.etree.ElementTree as ET
root = ET.fromstring("<r k='v'><e>t</e><e>u</e></r>")
class Tags(html.parser.HTMLParser):
    seen = []
    def handle_starttag(self, tag, attrs): self.seen.append(tag)
Tags().feed("<a href=x>y</a>")
result = [root.get("k"), [e.text for e in root.iter("e")], xml.dom.minidom.parseString("<x/>").documentElement.tagName,
          html.escape("<b>"), html.unescape("&lt;&amp;&gt;"), Tags.seen]
`},
	script{name: "email, mimetypes, quopri", result: `["Grüße", "text/plain", "image/png", "é"]`, source: `
import email, mimetypes, quopri
from email.message import EmailMessage
m = EmailMessage(); m["Subject"] = "Grüße"; m["To"] = "a@example.com"; m.set_content("hi")
back = email.message_from_bytes(bytes(m), policy=email.policy.default)
result = [back["Subject"], back.get_content_type(), mimetypes.guess_type("a.png")[0], quopri.decodestring(b"=C3=A9").decode()]
`},
	script{name: "urllib.parse, http, ipaddress", result: `["example.com", "a=1&b=%C3%A9", "Not Found", "10.0.0.255", "a=b"]`, source: `
import http, http.cookies, ipaddress, urllib.error, urllib.parse, urllib.request
c = http.cookies.SimpleCookie(); c["a"] = "b"
result = [urllib.parse.urlsplit("https://example.com/x").netloc, urllib.parse.urlencode({"a": 1, "b": "é"}),
          http.HTTPStatus(404).phrase, str(ipaddress.ip_network("10.0.0.0/24").broadcast_address), c["a"].OutputString()]
`},
	// A locale that is built into glibc, and one that does not exist.
	script{name: "locale", result: `["C.UTF-8", "UTF-8", ".", "unsupported locale setting"]`, source: `
import locale
name = locale.setlocale(locale.LC_ALL, "")
try: locale.setlocale(locale.LC_ALL, "xx_XX.UTF-8")
except locale.Error as e: missing = str(e)
result = [name, locale.getpreferredencoding().upper(), locale.localeconv()["decimal_point"], missing]
`},
	script{name: "gettext and shlex", result: `["untranslated", ["a", "b c"]]`, source: `
import gettext, shlex
result = [gettext.translation("none", fallback=True).gettext("untranslated"), shlex.split("a 'b c'")]
`},
)

var _ = table("hashes and secrets",
	script{name: "hashlib and hmac", result: `["5d41402abc4b2a76b9719d911017c592", "2cf24dba", "f7bc83f4", true, 32, true]`, source: `
import hashlib, hmac
result = [hashlib.md5(b"hello").hexdigest(), hashlib.sha256(b"hello").hexdigest()[:8],
          hmac.new(b"key", b"The quick brown fox jumps over the lazy dog", "sha256").hexdigest()[:8],
          hmac.compare_digest("a", "a"), len(hashlib.scrypt(b"p", salt=b"s", n=16, r=8, p=1, dklen=32)),
          {"sha3_256", "blake2b", "sha512"} <= hashlib.algorithms_available]
`},
	script{name: "pbkdf2 and blake2", result: `["120fb6cf", 16]`, source: `
import hashlib
result = [hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1).hex()[:8], hashlib.blake2b(b"x", digest_size=16).digest_size]
`},
	script{name: "secrets and uuid", result: `[32, true, 4, 5, true]`, source: `
import os, secrets, uuid
result = [len(secrets.token_hex(16)), secrets.randbelow(10) < 10, uuid.uuid4().version, uuid.uuid5(uuid.NAMESPACE_DNS, "x").version,
          os.urandom(16) != getattr(os, 'getrandom', os.urandom)(16)]
`},
	// uuid1 needs a hardware address: there is none, so it uses random bits.
	script{name: "uuid1", result: `1`, violation: anyViolation, source: `
import uuid
result = uuid.uuid1().version
`},
	script{name: "ssl", result: `[true, true, true]`, source: `
import ssl
c = ssl.create_default_context()
result = [c.verify_mode == ssl.CERT_REQUIRED, c.check_hostname, ssl.OPENSSL_VERSION.startswith("OpenSSL")]
`},
	script{name: "TLS handshake in memory fails", result: `"SSLWantReadError"`, source: `
import ssl
left, right = ssl.MemoryBIO(), ssl.MemoryBIO()
try: ssl.create_default_context().wrap_bio(left, right, server_hostname="example.com").do_handshake()
except ssl.SSLError as e: result = type(e).__name__
`},
)
