"""usage: python images.py legacy|auto stdio|http|sse TARGET SCRIPT

The official Python client draws plots with cordon, and gets them in each way that there is.
Prints a JSON object of what it saw; images.mjs does the same in JavaScript. CORDON_TEST_TOKEN is
the token for HTTP.
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

mode, transport, target, code = sys.argv[1:]


def server():
    if transport == "stdio":
        return StdioServerParameters(command=target, env={**os.environ, "CORDON_TEST_MCP_SERVE": "stdio"})
    headers = {"Authorization": "Bearer " + os.environ["CORDON_TEST_TOKEN"]}
    if transport == "sse":
        return sse_client(target, headers=headers)
    return streamable_http_client(target, http_client=httpx2.AsyncClient(headers=headers, timeout=60))


def images(answer):
    return [{"type": c.mime_type, "data": c.data} for c in answer.content if c.type == "image"]


async def main():
    seen = {}
    async with Client(server(), mode=mode) as client:

        async def call(tool, **arguments):
            answer = await client.call_tool(tool, arguments)
            if answer.is_error:
                raise SystemExit(str(answer.content))
            return answer

        await call("write_file", session="plots", name="data.csv", text="1\n4\n9\n")
        step = await call("run_python", session="plots", code=code, artifacts=["*.png"])
        seen["step"] = images(step)
        seen["artifacts"] = [a["name"] for a in step.structured_content["artifacts"]]
        files = await call("list_files", session="plots")
        seen["files"] = [f["name"] for f in files.structured_content["files"]]
        seen["file"] = images(await call("read_file", session="plots", name="plot.png"))
        uri = next(r.uri for r in (await client.list_resources()).resources if r.name == "plot.png")
        contents = (await client.read_resource(uri)).contents
        seen["resource"] = [{"type": c.mime_type, "data": c.blob} for c in contents]
        alone = "open('data.csv', 'w').write('1\\n2')\n" + code
        seen["alone"] = images(await call("run_python", code=alone, artifacts=["*.png"]))
    print(json.dumps(seen))


asyncio.run(main())
