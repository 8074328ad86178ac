//go:build unix

package script_test

import (
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

const (
	noThreads  = "RuntimeError: can't start new thread: the wasm tier has no threads"
	noNetwork  = "the wasm tier has no network"
	noPrograms = "the wasm tier starts no other programs"
)

func TestAbsent(t *testing.T) {
	e := open(t, image{bare: true})
	expect(t, e, call{}, []expectation{
		{"threads", "import threading\nthreading.Thread(target=print).start()", run.Raised, noThreads},
		{"threads of the interpreter", "import _thread\n_thread.start_new_thread(print, ())", run.Raised, noThreads},
		{"timers", "import threading\nthreading.Timer(0, print).start()", run.Raised, noThreads},
		{"executors", "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor().submit(print)", run.Raised, noThreads},
		{"locks work", "import threading\nlock = threading.Lock()\nwith lock:\n    result = lock.locked()", run.Succeeded, "true"},
		{"queues work", "import queue\nq = queue.Queue()\nq.put(1)\nresult = q.get()", run.Succeeded, "1"},

		{"sockets", "import socket\nsocket.socket()", run.Raised, noNetwork},
		{"pairs of sockets", "import socket\nsocket.socketpair()", run.Raised, noNetwork},
		{"connections", "import socket\nsocket.create_connection(('example.com', 80))", run.Raised, "gaierror: [Errno -4] " + noNetwork},
		{"connections, caught", "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 80), timeout=1)\nexcept OSError:\n    result = 1", run.Succeeded, "1"},
		{"URLs", "import urllib.request\nurllib.request.urlopen('http://example.com')", run.Raised, noNetwork},
		{"HTTP", "import http.client\nhttp.client.HTTPConnection('example.com').request('GET', '/')", run.Raised, noNetwork},
		{"names of hosts", "import socket\nsocket.gethostbyname('example.com')", run.Raised, noNetwork},
		{"addresses", "import socket\nresult = [socket.inet_ntoa(socket.inet_aton('10.0.0.1')), socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, '::1')), socket.ntohs(socket.htons(80)), socket.getfqdn()]", run.Succeeded, `["10.0.0.1","::1",80,"localhost"]`},
		{"enumerations", "import socket\nresult = [socket.AF_INET.name, socket.SOCK_STREAM.name, socket.MSG_PEEK.name]", run.Succeeded, `["AF_INET","SOCK_STREAM","MSG_PEEK"]`},
		{"default timeouts", "import socket\nsocket.setdefaulttimeout(3)\nresult = socket.getdefaulttimeout()", run.Succeeded, "3"},

		{"programs", "import subprocess\nsubprocess.run(['ls'])", run.Raised, noPrograms},
		{"programs, caught", "import subprocess\ntry:\n    subprocess.check_output('ls', shell=True)\nexcept OSError:\n    result = 1", run.Succeeded, "1"},
		{"shells", "import os\nos.system('ls')", run.Raised, noPrograms},
		{"pipes", "import os\nos.popen('ls')", run.Raised, noPrograms},
		{"processes", "import multiprocessing\nmultiprocessing.Process(target=print).start()", run.Raised, noPrograms},

		{"modules that import them", "import http.server, socketserver, smtplib, ftplib, logging.handlers, unittest.mock, xmlrpc.client, selectors, asyncio, concurrent.futures", run.Succeeded, "null"},
		{"the source of a patched module", "import asyncio, inspect\nresult = [len(inspect.getsource(asyncio)) > 0, type(asyncio.__loader__).__name__ != 'PatchingLoader']", run.Succeeded, "[true,true]"},
	})
}

func TestAsyncio(t *testing.T) {
	coroutine := func(body string) string {
		return "import asyncio, time\nasync def twice(x, after=0.01):\n    await asyncio.sleep(after)\n    return 2 * x\n" +
			"async def main():\n" + body + "\nresult = asyncio.run(main())"
	}
	e := open(t, image{bare: true})
	expect(t, e, call{tools: names}, []expectation{
		{"a coroutine", coroutine("    return await twice(1)"), run.Succeeded, "2"},
		{"gather", coroutine("    return await asyncio.gather(*map(twice, range(3)))"), run.Succeeded, "[0,2,4]"},
		{"gather waits at the same time", coroutine("    began = []\n    async def f():\n        began.append(1)\n        await asyncio.sleep(0.01)\n        return len(began)\n    return await asyncio.gather(f(), f(), f())"), run.Succeeded, "[3,3,3]"},
		{"sleep takes its time", coroutine("    at = time.monotonic()\n    await asyncio.sleep(0.1)\n    return 0.09 < time.monotonic() - at"), run.Succeeded, "true"},
		{"in order", coroutine("    done, loop = [], asyncio.get_running_loop()\n    at = loop.time()\n    for n in 3, 1, 2:\n        loop.call_at(at + n / 100, done.append, n)\n    while len(done) < 3:\n        await asyncio.sleep(0.01)\n    return done"), run.Succeeded, "[1,2,3]"},
		{"wait_for, in time", coroutine("    return await asyncio.wait_for(twice(1), 5)"), run.Succeeded, "2"},
		{"wait_for, too late", coroutine("    await asyncio.wait_for(twice(1, 5), 0.01)"), run.Raised, "TimeoutError"},
		{"queues", coroutine("    q = asyncio.Queue(1)\n    async def give():\n        for i in range(5):\n            await q.put(i)\n        await q.put(None)\n    asyncio.create_task(give())\n    got = []\n    while (x := await q.get()) is not None:\n        got.append(x)\n    return got"), run.Succeeded, "[0,1,2,3,4]"},
		{"locks and events", coroutine("    lock, event = asyncio.Lock(), asyncio.Event()\n    async def f():\n        async with lock:\n            event.set()\n    task = asyncio.create_task(f())\n    await event.wait()\n    await task\n    return lock.locked()"), run.Succeeded, "false"},
		{"an exception", coroutine("    await twice(1)\n    1 / 0"), run.Raised, "ZeroDivisionError"},
		{"asynchronous generators", coroutine("    async def g():\n        for i in range(3):\n            await asyncio.sleep(0)\n            yield i\n    return [i async for i in g()]"), run.Succeeded, "[0,1,2]"},
		{"what would be a thread", coroutine("    return await asyncio.gather(asyncio.to_thread(lambda: 1), twice(1))"), run.Succeeded, "[1,2]"},
		{"what would be a thread, and fails", coroutine("    await asyncio.to_thread(lambda: 1 / 0)"), run.Raised, "ZeroDivisionError"},
		{"what would be a thread lets others on", coroutine("    async def busy():\n        while True:\n            await asyncio.to_thread(int)\n    await asyncio.wait_for(busy(), 0.05)"), run.Raised, "TimeoutError"},
		{"tools", coroutine("    return await asyncio.to_thread(tools.add, 1, 2)"), run.Succeeded, "3"},
		{"twice", coroutine("    return 1") + "\nresult += asyncio.run(main())", run.Succeeded, "2"},
		{"a loop by hand", coroutine("    return 1") + "\nloop = asyncio.new_event_loop()\nresult = loop.run_until_complete(main())\nloop.close()", run.Succeeded, "1"},
		{"nothing that could come", coroutine("    await asyncio.Event().wait()"), run.Raised, "RuntimeError: all coroutines wait"},
		{"connections", coroutine("    await asyncio.open_connection('example.com', 80)"), run.Raised, noNetwork},
		{"servers", coroutine("    await asyncio.start_server(print, '127.0.0.1', 0)"), run.Raised, noNetwork},
		{"programs", coroutine("    await asyncio.create_subprocess_exec('ls')"), run.Raised, noPrograms},
		{"shells", coroutine("    await asyncio.create_subprocess_shell('ls')"), run.Raised, noPrograms},
	})
}

// The same for an interpreter that has threads and sockets, and is configured not to use
// them.
func TestAbsentByConfiguration(t *testing.T) {
	e := open(t, image{preload: []string{"threading", "subprocess"}, withoutWASI: true})
	expect(t, e, call{}, []expectation{
		{"threads", "import threading\nthreading.Thread(target=print).start()", run.Raised, noThreads},
		{"sockets", "import socket\nsocket.socket()", run.Raised, noNetwork},
		{"programs", "import subprocess\nsubprocess.run(['ls'])", run.Raised, noPrograms},
	})
}

// On other systems than WASI, and if not configured otherwise, the program leaves the
// library unchanged.
func TestPresent(t *testing.T) {
	e := open(t, image{})
	expect(t, e, call{}, []expectation{
		{"threads", "import threading\nx = []\nt = threading.Thread(target=x.append, args=(1,))\nt.start()\nt.join()\nresult = x", run.Succeeded, "[1]"},
		{"sockets", "import socket\na, b = socket.socketpair()\na.send(b'x')\nresult = len(b.recv(1))", run.Succeeded, "1"},
	})
}
