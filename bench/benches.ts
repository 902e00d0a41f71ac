// Every benchmark: what it measures, against what, and its bar. The table in README.md has the same rows.

import type { Bench } from './harness.ts'
import { SCENARIO_NAMES } from './neighbours/scenarios.ts'

export const BENCHES = {
  intake: {
    measures: '`POST /v1/media`, photos of 3.5 MB, 8 at a time; one file of 1 GB',
    floor: 'node:http + SHA-256 + a durable write to the same disk',
    bar: '≥ 0.80; a file of 1 GB costs ≤ 30 MB more memory than one of 10 MB',
    run: async (options) => (await import('./intake.ts')).runIntake(options),
  },
  accept: {
    measures: '`POST /v1/claims/attest` with `Prefer: wait=0`, 32 at a time',
    floor: 'Koa + one transaction of the same inserts',
    bar: '≥ 0.70; p99 ≤ 25 ms at half of the maximum rate',
    run: async (options) => (await import('./accept.ts')).runAccept(options),
  },
  batch: {
    measures: '`POST /v1/claims/batches`, 10,000 lines of NDJSON that name media, some of them wrong',
    floor: 'node:http + JSON.parse per line + the same rows by multi-row INSERT in one transaction',
    bar: '≥ 0.50; a verdict per line; 10,000 lines cost ≤ 30 MB more memory than 1,000',
    run: async (options) => (await import('./batch.ts')).runBatch(options),
  },
  backlog: {
    measures: 'no-op jobs from committed to settled, three writes each, on both engines',
    floor: "the same engine's bare BullMQ rate; graphile-worker and pg-boss for the record",
    bar: '≥ 0.25 on Redis, ≥ 0.50 on Postgres',
    run: async (options) => (await import('./backlog.ts')).runBacklog(options),
  },
  'backlog-depth': {
    measures: 'rate of dispatch and memory of Redis with 10 k, 100 k and 1 M jobs waiting',
    floor: 'itself at 10 k',
    bar: '≥ 0.9 at 1 M; memory of Redis ≤ 2 MB more than at 10 k',
    run: async (options) => (await import('./backlog-depth.ts')).runBacklogDepth(options),
  },
  fairness: {
    measures: "one account's single claim, submit to settled, while another's 100,000 wait",
    floor: 'the single claim alone',
    bar: 'p99 ≤ 5 x and ≤ 500 ms',
    run: async (options) => (await import('./fairness.ts')).runFairness(options),
  },
  attest: {
    measures:
      'processor time per settled claim of all processes and stores, with one worker; photos of 3.5 MB in the store',
    floor: 'signature + chain + metadata + EXIF + canonical JSON + one settling transaction, in one process',
    bar: '≥ 0.70; two processes ≥ 1.6 x one where the processors are not full',
    run: async (options) => (await import('./attest.ts')).runAttest(options),
  },
  'attest-media': {
    measures:
      'the same with C2PA manifests, and with videos of 10 chunks of 1 MB; memory of a worker over 10,000 mixed claims; p99 of good claims with 1 % hostile files among them',
    floor: 'what the `attest` floor does, and reading the manifest, or hashing the chunks, in one process',
    bar: 'none for the rates; memory ≤ 30 MB more in the last three tenths than in the second to fourth; p99 ≤ 1.5 x that without hostile files',
    parts: ['photo', 'c2pa', 'video', 'memory', 'hostile'],
    run: async (options) => (await import('./attest-media.ts')).runAttestMedia(options),
  },
  latency: {
    measures: 'submit to settled as the caller sees it, idle system',
    floor: 'BullMQ, add to handler in another process',
    bar: 'p50 ≤ 20 ms, p99 ≤ 60 ms',
    run: async (options) => (await import('./latency.ts')).runLatency(options),
  },
  deliver: {
    measures:
      'events of 1 kB to 50 fast receivers, per worker process, with every attempt, circuits, limits and statistics; from commit to arrival; beside one endpoint that hangs; beside 1 M parked deliveries',
    floor:
      'undici with 512 at once, signing included; the same with one durable record per delivery; itself without the endpoint that hangs, or what is parked',
    bar: "≥ 0.33; ≥ 0.60; a hanging endpoint moves the others' p99 by ≤ 10 %; ≥ 0.90 and ≤ 30 MB more beside what is parked",
    parts: ['rate', 'arrival', 'hanging', 'parked', 'snapshot'],
    run: async (options) => (await import('./deliver.ts')).runDeliver(options),
  },
  keys: {
    measures: '`GET /v1/claims/{id}` with a key, 32 at a time',
    floor: 'Koa + the same scoped transaction with one indexed read of the same rows',
    bar: '≥ 0.75',
    run: async (options) => (await import('./keys.ts')).runKeys(options),
  },
  sso: {
    measures:
      'a login by single sign-on without the time of the provider; 1,000 users pushed by SCIM with the limits of production; a page of 200 out of 10,000 users; logins and reads beside logins of another account at a provider that hangs or refuses their secret',
    floor: 'nothing; itself without those logins',
    bar: 'p50 ≤ 150 ms; ≤ 60 s; p50 ≤ 50 ms; p99 ≤ 50 ms more',
    parts: ['login', 'scim', 'hanging', 'refusing'],
    run: async (options) => (await import('./sso.ts')).runSso(options),
  },
  exclusions: {
    measures:
      'both exclusion lists in full size, from the upload to the end of the import; memory of the worker; 10,000 prescribers compared with them, and what is found; another account beside it',
    floor: 'nothing; itself without the comparison',
    bar: '≤ 60 s; ≤ 100 MB more; ≤ 60 s; the planted and no others; p99 ≤ 2 x',
    run: async (options) => (await import('./exclusions.ts')).runExclusions(options),
  },
  timing: {
    measures:
      'the time of a 401 with keys that the service knows (they are revoked), and of a request for a login link with the address of a user',
    floor: 'the same with unknown keys that differ in one character, and with addresses of nobody, in turns',
    parts: ['keys', 'addresses'],
    bar: 'medians of 2 x 10,000 answers within 5 %',
    run: async (options) => (await import('./timing.ts')).runTiming(options),
  },
  policy: {
    measures: 'processor time of one evaluation of a policy of 1,000 rules that all have to be looked at',
    floor: '50 evaluations of a policy of 20 rules',
    bar: '≤ 1.2 x; ≤ 300 µs',
    run: async (options) => (await import('./policy.ts')).runPolicy(options),
  },
  duplicates: {
    measures: 'the search for pictures that look alike among 1 M hashes of one account; hashes of photos of 12 MP',
    floor: 'one prepared read by primary key; decoding the photo whole',
    bar: 'p99 ≤ 10 ms; ≥ 1.00',
    parts: ['search', 'hashing'],
    run: async (options) => (await import('./duplicates.ts')).runDuplicates(options),
  },
  neighbours: {
    measures:
      "an honest tenant's p99 of all requests together, and from event to webhook, at a steady rate, while another tenant does its worst: a scenario each",
    floor: 'the same without the other tenant, in turns',
    bar: '≤ 3 x; nothing refused',
    parts: SCENARIO_NAMES,
    run: async (options) => (await import('./neighbours.ts')).runNeighbours(options),
  },
  verify: {
    measures:
      '`POST /v1/intent/verify` with a policy of 20 rules, 32 at a time; with 1,000 rules; beside 1 M rows of the ledger; executing, with a mandate, a schedule or an approval; with one mandate for all; executing orders',
    floor:
      'Koa + ES256 + the same reads and writes in one transaction; itself with 20 rules; itself with a short ledger; itself under mandates',
    bar: '≥ 0.70, also executing; ≥ 0.50; ≥ 0.95; p99 ≤ 50 ms at half of the maximum rate; ≥ 0.87',
    parts: ['repeating', 'executing', 'orders'],
    run: async (options) => (await import('./verify.ts')).runVerify(options),
  },
  authorize: {
    measures: '`POST /v1/intent/authorize`, 32 at a time',
    floor: 'Koa + ES256 + the same reads and writes',
    bar: '≥ 0.70',
    run: async (options) => (await import('./authorize.ts')).runAuthorize(options),
  },
  ledger: {
    measures:
      'entries of 16 accounts that become leaves; a proof with its root in a log of 1 M leaves; decisions and their lag',
    floor: 'SHA-256 of the same tree + the same rows, deleted and inserted by one statement per batch',
    bar: '≥ 0.50; p99 of a proof ≤ 5 ms',
    run: async (options) => (await import('./ledger.ts')).runLedger(options),
  },
  dashboard: {
    measures:
      "an adjuster's interactions with the list of 100,000 claims in Chromium until the next paint; the first rows of it",
    floor: 'nothing',
    bar: '≤ 200 ms; ≤ 1 s',
    run: async (options) => (await import('./dashboard.ts')).runDashboard(options),
  },
  start: {
    measures:
      '`npm start` until it is ready: the first, which makes its data, and later ones; processes and memory then',
    floor: 'nothing',
    bar: 'first ≤ 60 s, later ≤ 5 s; ≤ 700 MB, where what processes share counts once',
    run: async (options) => (await import('./start.ts')).runStart(options),
  },
  idle: {
    measures: 'what `npm start` costs with nothing to do, its embedded Postgres included, on both engines',
    floor: 'nothing',
    bar: '≤ 2 % of a core; ≤ 150 wake-ups per second',
    parts: ['postgres', 'redis'],
    run: async (options) => (await import('./idle.ts')).runIdle(options),
  },
  trace: {
    measures:
      'a prompt of 64 tokens and an answer of 32 on SmolLM2-135M, with one thread; memory of the process; a traced ' +
      'inference of 32 tokens on the tiny model over HTTP; the prompt in ONNX Runtime, and the memory of its process',
    floor: 'the matrix products alone in TypeScript; llama.cpp where it is installed, for the record',
    bar: '≥ 80 tokens/s of a prompt, ≥ 12 of an answer; ≤ 1.2 GB; ≥ 10 x; p50 ≤ 50 ms; in ONNX Runtime ≥ 250 tokens/s of a prompt and ≤ 1.2 GB',
    run: async (options) => (await import('./trace.ts')).runTrace(options),
  },
  attribution: {
    measures:
      'an exact graph of 512 neurons on the tiny model and on SmolLM2-135M, with one thread, also in ONNX Runtime; ablations of 10 prompts x 20 neurons',
    floor: 'one forward pass of the same text, for the record',
    bar: '≤ 2 s on the tiny model, ≤ 120 s on SmolLM2, in ONNX Runtime ≤ 60 s; ≥ 90 % of signs, median correlation ≥ 0.8',
    run: async (options) => (await import('./attribution.ts')).runAttribution(options),
  },
} as const satisfies Record<string, Bench>

export type BenchName = keyof typeof BENCHES

export function isBenchName(name: string): name is BenchName {
  return Object.hasOwn(BENCHES, name)
}
