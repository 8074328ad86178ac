// usage: node images.mjs sdk|client MODE stdio|http|sse TARGET SCRIPT
//
// One of the official TypeScript clients draws plots with cordon, and gets them in each way that
// there is. Prints a JSON object of what it saw; images.py does the same in Python.
import { connect } from "./connect.mjs";

const [which, mode, transport, target, code] = process.argv.slice(2);
const client = await connect(which, mode, transport, target);
const call = async (name, args) => {
  const answer = await client.callTool({ name, arguments: args });
  if (answer.isError) throw new Error(JSON.stringify(answer.content));
  return answer;
};
const images = (answer) => answer.content.filter((c) => c.type === "image").map((c) => ({ type: c.mimeType, data: c.data }));

const seen = {};
await call("write_file", { session: "plots", name: "data.csv", text: "1\n4\n9\n" });
const step = await call("run_python", { session: "plots", code, artifacts: ["*.png"] });
seen.step = images(step);
seen.artifacts = step.structuredContent.artifacts.map((a) => a.name);
seen.files = (await call("list_files", { session: "plots" })).structuredContent.files.map((f) => f.name);
seen.file = images(await call("read_file", { session: "plots", name: "plot.png" }));
const uri = (await client.listResources()).resources.find((r) => r.name === "plot.png").uri;
seen.resource = (await client.readResource({ uri })).contents.map((c) => ({ type: c.mimeType, data: c.blob }));
const alone = "open('data.csv', 'w').write('1\\n2')\n" + code;
seen.alone = images(await call("run_python", { code: alone, artifacts: ["*.png"] }));
await client.close();
console.log(JSON.stringify(seen));
