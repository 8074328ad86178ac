// usage: node openapi.mjs MODULES < documents
//
// Reads OpenAPI documents, one a line, and writes a line for each: what is wrong with it,
// or nothing. MODULES is a node_modules directory.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import * as readline from "node:readline";

const require = createRequire(pathToFileURL(process.argv[2] + "/any.js"));
const { Validator } = await import(pathToFileURL(require.resolve("@seriousme/openapi-schema-validator")));
// Which the validator brings, and uses for 3.1, too: the OpenAPI schema alone says nothing
// of the schemas inside of it.
const Ajv2020 = require("ajv/dist/2020.js").default;

async function problem(document) {
  const validator = new Validator({ strict: true });
  const found = await validator.validate(structuredClone(document));
  if (!found.valid) return JSON.stringify(found.errors);
  if (validator.version !== "3.1") return `the version is ${validator.version}`;
  validator.resolveRefs(); // or throw
  // Both kinds of schemas: those with names, and those that stand where they are used.
  const moved = JSON.parse(JSON.stringify(document).replaceAll("#/components/schemas/", "#/$defs/"));
  const $defs = moved.components.schemas;
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, validateFormats: false });
  const named = Object.keys($defs).map((name) => ({ $ref: "#/$defs/" + name }));
  ajv.compile({ $defs, anyOf: [...named, ...inside(moved.paths)] }); // or throw
  return "";
}

function* inside(value) {
  if (value === null || typeof value !== "object") return;
  for (const [name, part] of Object.entries(value)) {
    if (name === "schema") yield part;
    else yield* inside(part);
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const said = await problem(JSON.parse(line)).catch((error) => String(error));
  console.log(said.replaceAll("\n", " "));
}
