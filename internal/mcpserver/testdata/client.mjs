// usage: node client.mjs sdk|client MODE stdio|http|sse TARGET
//
// One of the official TypeScript clients against cordon: lists, calls, follows a run and
// aborts one. Prints a JSON object of what it saw. CORDON_TEST_NODE is where they are
// installed.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [which, mode, transportName, target] = process.argv.slice(2);
const require = createRequire(process.env.CORDON_TEST_NODE + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)));

async function parts() {
  if (which === "sdk") {
    const base = "@modelcontextprotocol/sdk/client/";
    return {
      ...(await load(base + "index.js")),
      ...(await load(base + "stdio.js")),
      ...(await load(base + "streamableHttp.js")),
      ...(await load(base + "sse.js")),
      ...(await load("@modelcontextprotocol/sdk/types.js")),
    };
  }
  return { ...(await load("@modelcontextprotocol/client")), ...(await load("@modelcontextprotocol/client/stdio")) };
}

const p = await parts();

function transport() {
  switch (transportName) {
    case "stdio":
      return new p.StdioClientTransport({ command: target, args: [], env: { ...process.env, CORDON_TEST_MCP_SERVE: "stdio" }, stderr: "inherit" });
    case "http":
      return new p.StreamableHTTPClientTransport(new URL(target));
    case "sse":
      return new p.SSEClientTransport(new URL(target));
  }
  throw new Error("no transport " + transportName);
}

const options = { capabilities: {} };
if (which === "client" && mode !== "default") options.versionNegotiation = { mode };
const client = new p.Client({ name: "cordon-test", version: "1" }, options);
const seen = { progress: [], logs: "" };
if (which === "sdk") {
  client.setNotificationHandler(p.LoggingMessageNotificationSchema, (n) => { seen.logs += n.params.data; });
} else {
  client.setNotificationHandler("notifications/message", (n) => { seen.logs += n.params.data; });
}
await client.connect(transport());
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
