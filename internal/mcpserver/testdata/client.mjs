// usage: node client.mjs sdk|client MODE stdio|http|sse TARGET
//
// One of the official TypeScript clients against cordon: lists, calls, follows a run and
// aborts one. Prints a JSON object of what it saw.
import { connect } from "./connect.mjs";

const [which, mode, transport, target] = process.argv.slice(2);
const seen = { progress: [], logs: "" };
const client = await connect(which, mode, transport, target, (n) => { seen.logs += n.params.data; });
seen.version = client.getNegotiatedProtocolVersion?.() ?? "";

seen.tools = (await client.listTools()).tools.map((t) => t.name).sort();

const call = (code, options, more = {}) =>
  which === "sdk"
    ? client.callTool({ name: "run_python", arguments: { code, ...more } }, undefined, options)
    : client.callTool({ name: "run_python", arguments: { code, ...more } }, options);

seen.call = (await call("x = 41\nprint(x + 1)", undefined, { variables: ["x"] })).structuredContent;

const failed = await call("1/0");
seen.failed = { isError: failed.isError, text: failed.content.map((c) => c.text).join("\n") };

try {
  await client.setLoggingLevel("info");
} catch (e) {
  seen.noLevel = String(e.message ?? e); // the newest revision has none
}
await call("import time\nfor i in range(5):\n  print('tick', i, flush=True)\n  time.sleep(0.5)", {
  onprogress: (at) => seen.progress.push(at),
});

// From outside, the guest is known by its threads.
const stop = new AbortController();
setTimeout(() => stop.abort(), 1500);
const began = Date.now();
const long = "import threading, time\nfor _ in range(7): threading.Thread(target=time.sleep, args=(25,)).start()\nprint('begun', flush=True)";
try {
  await call(long, { signal: stop.signal });
  seen.aborted = false;
} catch {
  seen.aborted = Date.now() - began < 10_000;
}
// What follows is served as if nothing had been.
seen.after = (await call("print('still here')")).structuredContent.stdout;
await client.close();
console.log(JSON.stringify(seen));
