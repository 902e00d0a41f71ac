// Insurers' systems: they submit, and without an answer they submit the same again, as long as that is safe.
// Their requests and the answers go to a journal, each before anything else is done with it.

import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { createDice, type Dice } from '../capture-kit/scene.ts'
import { type Asked, clock, idsIn, type Journal } from './journal.ts'
import { sha256Hex, type Tenant } from './tenant.ts'

export interface Load {
  /** Captures that clients have asked to submit so far, repeats not counted. */
  submitted(): number
  /** Lets every client finish its present work. */
  stop(): Promise<void>
}

interface LoadOptions {
  tenants: readonly Tenant[]
  url: string
  journal: Journal
  seed: number
  /** Evaluations that have not ended, as last read: batches wait while there are many. */
  open(): number
  openTarget: number
  batchSize: number
  /** Mean pause between two single submissions of a client. */
  pauseMs: number
  /** Mean pause between two batches of a client. */
  batchPauseMs: number
  /** Captures that a run ends with, unless it ends earlier. */
  maxCaptures?: number
}

interface Outgoing {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body: string | Buffer | null
  /** Sending it again has no second effect. */
  isRepeatable: boolean
}

interface Fate {
  status: number
  attestationId: string | null
  mediaId: string | null
  batchId: string | null
  /** Nonces of capture sessions. */
  nonces: string[]
}

const NO_FATE: Fate = { status: 0, attestationId: null, mediaId: null, batchId: null, nonces: [] }

// Longer than the slowest recovery.
const GIVE_UP_MS = 150_000
const ATTEMPT_TIMEOUT_MS = 45_000
const SINGLES_PER_TENANT = 2
// So many lines of a batch are accepted before the first of them has run.
const CANCELLED_SIZE = 100

export function startLoad(options: LoadOptions): Load {
  const {
    tenants,
    url,
    journal,
    seed,
    open,
    openTarget,
    batchSize,
    pauseMs,
    batchPauseMs,
    maxCaptures = Number.POSITIVE_INFINITY,
  } = options
  const pool = new Pool(url, { connections: 64, headersTimeout: ATTEMPT_TIMEOUT_MS, bodyTimeout: ATTEMPT_TIMEOUT_MS })
  let isStopping = false
  let requests = 0
  let captures = 0
  const taken = new Map<string, number>()
  // For clients that request another account's ids: ids from earlier answers.
  const known = new Map<string, string>()

  async function ask(tenant: Tenant, about: Partial<Asked> & Pick<Asked, 'op'>, outgoing: Outgoing): Promise<Fate> {
    requests += 1
    const n = requests
    const { accountId, environment } = tenant
    const blank = { prefix: '', first: 0, count: 0, isNamed: false, key: null, wait: null, sha256: null }
    journal.write({ kind: 'asked', n, at: clock(), accountId, environment, ...blank, ...about })
    const key = about.key == null ? {} : { 'idempotency-key': about.key }
    const headers = { authorization: `Bearer ${tenant.key}`, ...key, ...outgoing.headers }
    for (const giveUpAt = clock() + GIVE_UP_MS; ; ) {
      const fate = await tryOnce(n, { ...outgoing, headers })
      const isFinal = fate !== undefined && fate.status < 500 && !isPassing(fate.status, fate.code)
      if (isFinal || !outgoing.isRepeatable || clock() > giveUpAt) return fate ?? NO_FATE
      await delay(fate?.retryAfter == null ? 200 + 300 * Math.random() : Math.min(5, Number(fate.retryAfter)) * 1_000)
    }
  }

  async function tryOnce(n: number, { method, path, headers, body }: Outgoing) {
    const at = clock()
    try {
      const response = await pool.request({
        method,
        path,
        headers,
        body,
        signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
      })
      const text = await response.body.text()
      const json = /json/.test(String(response.headers['content-type'])) ? parse(text) : {}
      const header = (name: string) => response.headers[name]?.toString() ?? null
      const said = (name: string) => (typeof json[name] === 'string' ? json[name] : null)
      const answer = {
        status: response.statusCode,
        retryAfter: header('retry-after'),
        code: said('code'),
        attestationId: said('attestation_id'),
        mediaId: said('media_id'),
        batchId: said('batch_id'),
      }
      journal.write({
        kind: 'answered',
        n,
        at: clock(),
        ms: clock() - at,
        ...answer,
        isReplayed: header('idempotent-replayed') === 'true',
        screeningId: said('screening_id'),
        accepted: typeof json.accepted === 'number' ? json.accepted : null,
        ids: idsIn(text),
      })
      return { ...answer, nonces: noncesIn(json) }
    } catch (error) {
      const reason =
        error instanceof Error ? `${error.name} ${'code' in error ? error.code : ''} ${error.message}` : String(error)
      journal.write({ kind: 'unanswered', n, at: clock(), ms: clock() - at, error: reason })
      return undefined
    }
  }

  function take(tenant: Tenant, count: number): number {
    const first = taken.get(tenant.name) ?? 0
    taken.set(tenant.name, first + count)
    captures += count
    return first
  }

  async function submitOne(tenant: Tenant, dice: Dice): Promise<void> {
    const first = take(tenant, 1)
    const prefix = `${tenant.name}-`
    const way = dice()
    const isNamed = way < 0.5
    const key = way > 0.4 && way < 0.9 ? `${prefix}${first}` : null
    const wait = dice() < 0.3 ? 2 : 0
    const about = { op: 'attest', prefix, first, count: 1, isNamed, key, wait } as const
    const outgoing: Outgoing = {
      method: 'POST',
      path: '/v1/claims/attest',
      headers: { 'content-type': 'application/json', prefer: `wait=${wait}` },
      body: JSON.stringify(tenant.compose(`${prefix}${first}`, first, isNamed)),
      isRepeatable: isNamed || key !== null,
    }
    const { attestationId } = await ask(tenant, about, outgoing)
    if (attestationId !== null) known.set(tenant.name, attestationId)
    // The client lost the answer, or two of its processes do the same work.
    if (outgoing.isRepeatable && dice() < 0.1) await ask(tenant, about, outgoing)
  }

  async function submitBatch(tenant: Tenant, dice: Dice): Promise<void> {
    const first = take(tenant, batchSize)
    const prefix = `${tenant.name}-`
    const way = dice()
    const isNamed = way < 0.6
    const key = way > 0.4 ? `${prefix}batch-${first}` : null
    const lines: string[] = []
    for (let n = first; n < first + batchSize; n += 1) {
      lines.push(JSON.stringify(tenant.compose(`${prefix}${n}`, n, isNamed)))
      // Signing a thousand captures at once would block every other client.
      if (lines.length % 50 === 0) await delay(0)
    }
    const about = { op: 'batch', prefix, first, count: batchSize, isNamed, key } as const
    const outgoing: Outgoing = {
      method: 'POST',
      path: '/v1/claims/batches',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
      isRepeatable: true,
    }
    await ask(tenant, about, outgoing)
    if (dice() < 0.1) await ask(tenant, about, outgoing)
  }

  // Sent in error, cancelled, and sent again: what was cancelled before it ran counts as never submitted, so the same
  // captures, with the same nonces under the same names, are evaluated as if they were new.
  async function submitTwice(tenant: Tenant): Promise<void> {
    const count = Math.min(batchSize, CANCELLED_SIZE)
    const first = take(tenant, count)
    const prefix = `${tenant.name}-`
    const json = { 'content-type': 'application/json' }
    const path = '/v1/claims/attest/sessions'
    const body = JSON.stringify({ count })
    const opened = await ask(
      tenant,
      { op: 'sessions' },
      { method: 'POST', path, headers: json, body, isRepeatable: true },
    )
    if (opened.nonces.length < count) return
    const lines = opened.nonces.map((nonce, index) =>
      JSON.stringify(tenant.compose(`${prefix}${first + index}`, first + index, true, nonce)),
    )
    const named = { prefix, first, count, isNamed: true }
    const submission: Outgoing = {
      method: 'POST',
      path: '/v1/claims/batches',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
      isRepeatable: true,
    }
    const { batchId } = await ask(tenant, { op: 'batch', ...named }, submission)
    if (batchId === null) return
    const cancelling = { path: `/v1/claims/batches/${batchId}/cancel`, headers: {}, body: null }
    const cancelled = await ask(
      tenant,
      { op: 'cancel', ...named },
      { method: 'POST', ...cancelling, isRepeatable: true },
    )
    if (cancelled.status === 200) await ask(tenant, { op: 'batch', ...named }, submission)
  }

  async function upload(tenant: Tenant, dice: Dice, n: number): Promise<void> {
    const photo = tenant.photo(n)
    const sha256 = sha256Hex(photo)
    const key = dice() < 0.5 ? `${tenant.name}-photo-${n}` : null
    const outgoing: Outgoing = {
      method: 'POST',
      path: '/v1/media',
      headers: { 'content-type': 'image/jpeg' },
      body: photo,
      isRepeatable: true,
    }
    const { mediaId } = await ask(tenant, { op: 'upload', key, sha256 }, outgoing)
    if (mediaId !== null) await screen(tenant, dice, { mediaId, sha256, key: `${tenant.name}-screen-${n}` })
  }

  // Each screening has a photo of its own: a repeat gets the same screening by its key.
  async function screen(
    tenant: Tenant,
    dice: Dice,
    { mediaId, sha256, key }: { mediaId: string; sha256: string; key: string },
  ): Promise<void> {
    const wait = dice() < 0.3 ? 2 : 0
    const outgoing: Outgoing = {
      method: 'POST',
      path: '/v1/media/screen',
      headers: { 'content-type': 'application/json', prefer: `wait=${wait}` },
      body: JSON.stringify({ media: { media_id: mediaId } }),
      isRepeatable: true,
    }
    const about = { op: 'screen', key, wait, sha256 } as const
    await ask(tenant, about, outgoing)
    if (dice() < 0.2) await ask(tenant, about, outgoing)
  }

  async function readOne(tenant: Tenant, dice: Dice): Promise<void> {
    const others = [...known].filter(([name]) => name !== tenant.name)
    const foreign = dice() < 0.5 ? others[Math.floor(dice() * others.length)] : undefined
    const id = foreign?.[1] ?? known.get(tenant.name)
    if (id === undefined) return
    const outgoing: Outgoing = {
      method: 'GET',
      path: `/v1/attestations/${id}`,
      headers: {},
      body: null,
      isRepeatable: false,
    }
    await ask(tenant, { op: foreign === undefined ? 'read' : 'foreign' }, outgoing)
  }

  const isDone = () => isStopping || captures >= maxCaptures

  async function runSingles(tenant: Tenant, dice: Dice): Promise<void> {
    while (!isDone()) {
      await submitOne(tenant, dice)
      if (dice() < 0.05) await upload(tenant, dice, Math.floor(dice() * 1e9))
      if (dice() < 0.1) await readOne(tenant, dice)
      await delay(pauseMs * (0.5 + dice()))
    }
  }

  async function runBatches(tenant: Tenant, dice: Dice): Promise<void> {
    while (!isDone()) {
      if (dice() < 0.15) await submitTwice(tenant)
      else if (open() < openTarget) await submitBatch(tenant, dice)
      await delay(batchPauseMs * (0.5 + dice()))
    }
  }

  const clients = tenants.flatMap((tenant, index) => {
    const diceOf = (n: number) => createDice(seed * 1_000 + index * 10 + n)
    const singles = Array.from({ length: SINGLES_PER_TENANT }, (_, n) => runSingles(tenant, diceOf(n)))
    return [...singles, runBatches(tenant, diceOf(SINGLES_PER_TENANT))]
  })
  return {
    submitted: () => captures,
    async stop() {
      isStopping = true
      await Promise.all(clients)
      await pool.close()
    },
  }
}

// 409 while the same request is being processed elsewhere, and the refusals of a proxy or a limit.
function isPassing(status: number, code: string | null): boolean {
  return status === 408 || status === 429 || code === 'idempotency_in_progress'
}

function noncesIn({ sessions }: Record<string, unknown>): string[] {
  return Array.isArray(sessions) ? sessions.map(({ session_nonce: nonce }) => String(nonce)) : []
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
