// Connects one of the official TypeScript clients to cordon. CORDON_TEST_NODE is where they are
// installed. CORDON_TEST_TOKEN is the token for HTTP; without one, none is sent.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.CORDON_TEST_NODE + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)));

async function parts(which) {
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

function transportOf(p, name, target) {
  const token = process.env.CORDON_TEST_TOKEN;
  const options = token ? { requestInit: { headers: { Authorization: "Bearer " + token } } } : undefined;
  switch (name) {
    case "stdio":
      return new p.StdioClientTransport({ command: target, args: [], env: { ...process.env, CORDON_TEST_MCP_SERVE: "stdio" }, stderr: "inherit" });
    case "http":
      return new p.StreamableHTTPClientTransport(new URL(target), options);
    case "sse":
      return new p.SSEClientTransport(new URL(target), options);
  }
  throw new Error("no transport " + name);
}

// connect returns a client. which is sdk or client, mode is that of client, transport is stdio,
// http or sse.
export async function connect(which, mode, transport, target, onLog = () => {}) {
  const p = await parts(which);
  const options = { capabilities: {} };
  if (which === "client" && mode !== "default") options.versionNegotiation = { mode };
  const client = new p.Client({ name: "cordon-test", version: "1" }, options);
  client.setNotificationHandler(which === "sdk" ? p.LoggingMessageNotificationSchema : "notifications/message", onLog);
  await client.connect(transportOf(p, transport, target));
  return client;
}
