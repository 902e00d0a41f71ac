// Attribution jobs and diffs in a fault run: they are submitted over HTTP for traces of the tiny model while processes and
// stores die. At the end each manifest and report is downloaded and compared with what its row, event and count say.

import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { DEFAULT_MODEL } from '#src/trace/models/model-files.ts'
import { until } from '../test/support/until.ts'
import type { ScopeName } from './evidence.ts'
import type { PostgresServer } from './stores.ts'
import type { Tenant } from './tenant.ts'

export interface AttributionFacts {
  /** Works that clients were answered: repeats of a request have the same name. */
  answered: { request: string; id: string }[]
  works: {
    id: string
    scope: ScopeName
    state: string
    /** Hash of its manifest or report. */
    hash: string | null
    /** Manifests or reports that are stored. */
    results: number
    jobId: string
  }[]
  /** The two events that tell about the end. */
  events: { id: string; status: string; hash: string | null }[]
  /** Works that were counted, one for each entry of the meter. */
  counted: string[]
  /** Hashes of what clients downloaded. */
  shown: { id: string; sha256: string }[]
}

const PAUSE_MS = 1_200
const PATIENCE_MS = 10_000
const RETRIES = 5
// A diff of so many prompts takes seconds, and stores checkpoints.
const LONG_SET = 40
const SHORT_SET = 3
const LONG_EVERY = 4
// A few works of different tenants run at once.
const ROUNDS = 3

const conversation = (n: number) => [
  { role: 'system', content: 'You are an agent. Tools: search, read, pay, send.' },
  { role: 'user', content: `What do ${n} lamps cost at Cobalt Tools?` },
  { role: 'tool', content: `Cobalt Tools: lamps, ${n}.00 EUR, delivery 2026-11-21.` },
]
const isDiff = (id: string) => id.startsWith('dif_')
/** Path of its manifest or report. */
export const pathOf = (id: string) =>
  `/v1/trace/${isDiff(id) ? 'diffs' : 'jobs'}/${id}/${isDiff(id) ? 'report' : 'manifest'}`

/** Hashes as `manifest_hash` and `report_hash` are defined: the bytes, or the canonical JSON. */
export function hashOf(id: string, text: string): string {
  const hashed = isDiff(id) ? canonicalize(JSON.parse(text) as Json) : text
  return createHash('sha256').update(hashed).digest('hex')
}

/** Submits for each tenant in turn until stopped. Stores evaluation sets first, while nothing is broken yet. @param url Of the API. */
export async function startAttributions(url: string, tenants: readonly Tenant[]) {
  const answered: AttributionFacts['answered'] = []
  const keys = new Map<string, string>()
  const sets = new Map<string, { short: string; long: string }>()
  let isStopping = false

  async function send<Answer>({ key }: Tenant, path: string, json: object, request: string): Promise<Answer> {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': request },
      body: JSON.stringify(json),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return (await response.json()) as Answer
  }

  /** Repeats a request until it is answered, as a client does. Undefined where it never was. */
  async function sendUntil<Answer>(tenant: Tenant, path: string, json: object, request: string) {
    for (let tries = 1; tries <= RETRIES; tries += 1) {
      try {
        return await send<Answer>(tenant, path, json, request)
      } catch {
        await delay(PAUSE_MS * tries)
      }
    }
    return undefined
  }

  /** Its id; undefined where it was never answered. */
  async function ask(tenant: Tenant, path: string, json: object, request: string): Promise<string | undefined> {
    // Two callers at once with one key: one work for both.
    const answers = await Promise.all(
      [1, 2].map(() => sendUntil<{ job_id?: string; diff_id?: string }>(tenant, path, json, request)),
    )
    for (const answer of answers) {
      const id = answer?.job_id ?? answer?.diff_id
      if (id === undefined) continue
      answered.push({ request: `${tenant.name} ${request}`, id })
      keys.set(id, tenant.key)
    }
    return answers.flatMap((answer) => answer?.job_id ?? answer?.diff_id ?? [])[0]
  }

  async function attribute(tenant: Tenant, n: number): Promise<string | undefined> {
    // Every second trace keeps no texts: its job carries the input.
    const isKept = n % 2 === 0
    const messages = conversation(n)
    const made = await sendUntil<{ trace_id: string }>(
      tenant,
      '/v1/trace/inferences',
      { messages, max_tokens: 4, retain: isKept ? 'text' : 'hash' },
      `attributed-${n}`,
    )
    if (made === undefined) return undefined
    const job = { trace_id: made.trace_id, max_feature_nodes: 24, ...(isKept ? {} : { input: { messages } }) }
    return ask(tenant, '/v1/trace/jobs', job, `attribution-${n}`)
  }

  async function compare(tenant: Tenant, n: number): Promise<string | undefined> {
    const own = sets.get(tenant.name)
    const model = DEFAULT_MODEL.id
    const set = n % LONG_EVERY === 0 ? own?.long : own?.short
    return ask(
      tenant,
      '/v1/trace/diffs',
      { base_model: model, target_model: model, eval_set: set, seed: n },
      `diff-${n}`,
    )
  }

  // A loop that submitted on would make a backlog that grows: a diff takes seconds, and a tenant's run one by one.
  async function untilShown(ids: readonly string[]): Promise<void> {
    const isShown = async (id: string) => {
      const answer = await fetch(`${url}${pathOf(id)}`, {
        headers: { Authorization: `Bearer ${keys.get(id)}` },
        signal: AbortSignal.timeout(PATIENCE_MS),
      }).catch(() => undefined)
      await answer?.body?.cancel()
      return answer?.ok ?? false
    }
    await until(async () => isStopping || (await Promise.all(ids.map(isShown))).every(Boolean), {
      everyMs: PAUSE_MS,
      timeoutMs: PATIENCE_MS,
    }).catch(() => {})
  }

  async function storeSet(tenant: Tenant, count: number): Promise<string> {
    const prompts = Array.from({ length: count }, (_, n) => ({ messages: conversation(n + 1) }))
    const body = { name: `${count} prompts`, prompts }
    return (await send<{ eval_set_id: string }>(tenant, '/v1/trace/eval-sets', body, `set-${count}`)).eval_set_id
  }

  for (const tenant of tenants) {
    sets.set(tenant.name, { short: await storeSet(tenant, SHORT_SET), long: await storeSet(tenant, LONG_SET) })
  }
  const running = (async () => {
    const rounds: string[][] = []
    for (let n = 0; !isStopping; n += 1) {
      const tenant = tenants[n % tenants.length]
      if (tenant === undefined) return
      const made = await Promise.all([attribute(tenant, n), compare(tenant, n)])
      rounds.push(made.flatMap((id) => id ?? []))
      await untilShown(rounds.at(-ROUNDS) ?? [])
      await delay(PAUSE_MS)
    }
  })()

  return {
    answered,
    async stop() {
      isStopping = true
      await running
    },
    /** Downloads what was made. To be called when all work has ended, and while the API still answers. */
    async download(): Promise<AttributionFacts['shown']> {
      const shown: AttributionFacts['shown'] = []
      for (const [id, key] of keys) {
        const response = await fetch(`${url}${pathOf(id)}`, { headers: { Authorization: `Bearer ${key}` } })
        if (!response.ok) continue
        shown.push({ id, sha256: hashOf(id, await response.text()) })
      }
      return shown
    },
  }
}

const SCOPE = (table: string) => `${table}.account_id || ' ' || ${table}.environment AS scope`

export async function readAttributions(
  { owner }: Pick<PostgresServer, 'owner'>,
  { answered, shown }: Pick<AttributionFacts, 'answered' | 'shown'>,
): Promise<AttributionFacts> {
  return {
    answered: [...answered],
    shown: [...shown],
    works: await owner(
      `SELECT job.id, ${SCOPE('job')}, state, manifest_hash AS hash, count(manifest.id)::int AS results,
         queue_job_id AS "jobId"
       FROM trace_jobs job LEFT JOIN trace_manifests manifest ON manifest.id = job.id
       GROUP BY job.account_id, job.environment, job.id
       UNION ALL
       SELECT id, ${SCOPE('model_diffs')}, state, encode(report_hash, 'hex'), (report IS NOT NULL)::int, job_id
       FROM model_diffs`,
    ),
    events: await owner(
      `SELECT coalesce(data ->> 'job_id', data ->> 'diff_id') AS id, data ->> 'status' AS status,
         coalesce(data ->> 'manifest_hash', data ->> 'report_hash') AS hash
       FROM events WHERE type IN ('trace.job_completed', 'trace.diff_completed')`,
    ),
    counted: (
      await owner<{ id: string }>(`SELECT subject_id AS id FROM usage_entries WHERE operation IN ('trace_job', 'diff')`)
    ).map(({ id }) => id),
  }
}
