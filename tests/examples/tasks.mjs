// The tasks that the example worker runs in its tests. `file` is where they say what happens to them.
import { appendFileSync, existsSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const add = ({ a, b }) => a + b;

export async function echo(input, { attempt, key }) {
  return { input, attempt, key };
}

export async function fail() {
  throw new TypeError("broken");
}

export async function wait({ file }, { signal }) {
  appendFileSync(file, "started\n");
  await new Promise((_, reject) => signal.addEventListener("abort", reject)).catch(() => {});
  appendFileSync(file, `stopped by ${signal.reason}\n`);
}

export async function until({ file }) {
  process.on("SIGTERM", () => appendFileSync(file, "SIGTERM\n"));
  appendFileSync(file, "started\n");
  while (!existsSync(`${dirname(file)}/go`)) await sleep(10);
  return "went";
}

export async function first({ file }, { attempt, signal }) {
  if (attempt === 1) await wait({ file }, { signal });
  return attempt;
}
