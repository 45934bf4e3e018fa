// A complete Noonmark worker in plain JavaScript: Node 20.3 or newer, no packages. See docs/worker-protocol.md.
//   NOONMARK_SERVER=http://127.0.0.1:7171 NOONMARK_TOKEN=… CONCURRENCY=10 GRACE_S=30 node worker.mjs tasks.mjs
// Each function that tasks.mjs exports is a task: export async function greet(input, { signal, key, attempt }) { … }
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

const { NOONMARK_SERVER: seed = "http://127.0.0.1:7171", NOONMARK_TOKEN: token, GRACE_S: graceS = 30 } = process.env;
const concurrency = Number(process.env.CONCURRENCY ?? 10);
const tasks = await import(new URL(process.argv[2] ?? "tasks.mjs", `file://${process.cwd()}/`));
const [SUCCEEDED, FAILED, TIMED_OUT, LOST, RELEASED, CANCELLED] = [1, 2, 3, 4, 5, 6]; // how an attempt can end
const nodes = new Set(); // addresses; each node decides for some of the runs, so each is asked for work
const held = new Set(); // attempts { grant, job, nominal, controller } from their grant until a node took their report
const stopping = new AbortController();
let worker = 0, busy = 0, heartbeatS = 1, offsetUs = 0;
const now = () => Math.round(performance.now() * 1000 + offsetUs); // microseconds, by the database's clock

async function call(node, verb, message, signal = AbortSignal.timeout(5000)) {
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  const body = JSON.stringify({ worker, ...message });
  const response = await fetch(`${node}/v1/worker/${verb}`, { method: "POST", headers, body, signal });
  const answer = await response.json();
  if (response.status === 410) return await register(node), call(node, verb, message, signal); // it does not know us
  if (!response.ok) throw Object.assign(new Error(`${verb}: ${answer.detail}`), { status: response.status });
  if (verb !== "claim") offsetUs = answer.now_us - performance.now() * 1000;
  return answer;
}

async function register(node) {
  const mine = { name: `${hostname()}:${process.pid}`, queues: ["default"], tasks: Object.keys(tasks), concurrency };
  const answer = await call(node, "register", mine);
  [worker, heartbeatS] = [answer.worker, answer.heartbeat_s];
  return answer.nodes;
}

function learn(addresses) { // a node that is new to us gets its two loops
  for (const node of addresses) if (!nodes.has(node)) nodes.add(node), heartbeats(node), claims(node);
}

async function heartbeats(node) { // every node hears of all that we hold, because shards move from node to node
  for (; nodes.has(node); await sleep(heartbeatS * 1000)) {
    try {
      const grants = [...new Set([...held].map((attempt) => attempt.grant))];
      const answer = await call(node, "heartbeat", { grants, sent_us: now() });
      learn(answer.nodes);
      for (const { job, nominal, grant, controller } of held) {
        if (answer.lost.includes(grant)) controller.abort(LOST);
        if (answer.cancel.some((run) => run[0] === job && run[1] === nominal)) controller.abort(CANCELLED);
      }
    } catch { // ask the first address who is there now, and forget a node that is gone
      const listed = await register(seed).catch(() => [node]);
      if (!listed.includes(node)) nodes.delete(node);
      learn(listed);
    }
  }
}

async function claims(node) {
  while (nodes.has(node) && !stopping.signal.aborted) {
    const patience = AbortSignal.any([stopping.signal, AbortSignal.timeout(25_000)]);
    try {
      while (busy >= concurrency) await sleep(10);
      const max = Math.ceil((concurrency - busy) / nodes.size);
      const { grant, runs, terms, now_us } = await call(node, "claim", { max, wait_s: 20 }, patience);
      if (now() - now_us < 1_000_000) // an answer that took longer is dropped: its runs may be granted again already
        for (const run of runs) perform(node, grant, run, terms[run[4]]);
    } catch { await sleep(500 * (1 + Math.random())); }
  }
}

async function perform(node, grant, [job, nominal, attempt, , , input], { task, timeout_s }) {
  const controller = new AbortController(), { signal } = controller, mine = { grant, job, nominal, controller };
  if (busy >= concurrency) controller.abort(RELEASED); // several nodes gave more than there is room for: hand it back
  const stopped = new Promise((_, reject) => signal.addEventListener("abort", () => reject(null)));
  const timer = setTimeout(() => controller.abort(TIMED_OUT), timeout_s * 1000), began = signal.aborted ? null : now();
  const context = { signal, attempt, key: `${job}/${nominal}` }; // the key stays the same over all attempts of a run
  const work = async () => JSON.stringify(await tasks[task](JSON.parse(input), context)) ?? null;
  held.add(mine), busy++;
  const end = await (signal.aborted ? Promise.reject(null) : Promise.race([work(), stopped])).then(
    (result) => [SUCCEEDED, began, now(), null, null, result],
    (raised) => [signal.reason ?? FAILED, began, now(), raised?.name, raised && String(raised.stack ?? raised)]);
  clearTimeout(timer), busy--;
  for (let turn = 0; signal.reason !== LOST; turn++, await sleep(200)) { // the node that granted it, then each in turn
    const to = turn ? [...nodes][turn % nodes.size] : node, items = [[grant, job, nominal, attempt, ...end]];
    const { elsewhere, status } = await call(to, "report", { items }).catch((error) => error);
    if (elsewhere?.length === 0 || status === 422) break; // it counts, or never will
  }
  held.delete(mine);
}

async function stop() { // finish within the time of grace, hand back the rest, say that nothing is held any more
  stopping.abort();
  for (const until = now() + graceS * 1e6; busy && now() < until; ) await sleep(20);
  for (const { controller } of held) controller.abort(RELEASED);
  for (const until = now() + 5e6; held.size && now() < until; ) await sleep(20);
  await Promise.allSettled([...nodes].map((node) => call(node, "heartbeat", { grants: [] })));
  process.exit();
}
process.once("SIGTERM", stop).once("SIGINT", stop);
for (; !nodes.size; await sleep(1000)) learn(await register(seed).catch((error) => (console.error(error.message), [])));
