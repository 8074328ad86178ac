# attack: read the host's accounts in /etc/passwd
# class: 20
# walls: mount landlock

def attempt():
    text = read("/etc/passwd")
    return "root:" in text and "read " + text[:60]

result = judged(attempt)
