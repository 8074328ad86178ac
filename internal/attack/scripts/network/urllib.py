# attack: fetch from the host's loopback with urllib, http.client and asyncio
# class: 9
# walls: net seccomp landlock

import asyncio, http.client, urllib.request

def attempt():
    port = need("tcp4_port")
    def by_urllib():
        try:
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open("http://127.0.0.1:%d/" % port, timeout=2)
        except http.client.HTTPException as e:
            return "a server answered: %r" % e
    def by_asyncio():
        async def connect():
            reader, _ = await asyncio.open_connection("127.0.0.1", port)
            return "heard " + (await reader.read(200)).decode()
        return asyncio.run(connect())
    return any_of(by_urllib, by_asyncio)

result = judged(attempt)
