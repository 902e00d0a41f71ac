// The work of the deliver queue. At least once: every attempt has a number and a start before the call, and a row with
// its result after it. A crash between the two costs that attempt, never the delivery. The first 2xx ends the delivery. Attempts
// of one account that begin or succeed together share a transaction, because its wait for the disk is their main cost.

import { LRUCache } from 'lru-cache'
import { createBatcher } from '#src/platform/batching.ts'
import { note } from '#src/platform/context.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { retryWhileAway } from '#src/platform/db/retry.ts'
import type { Scope } from '#src/platform/ids.ts'
import { cancelJobs, STALE_JOB, settleAll } from '#src/platform/jobs/backlog.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import type { Outbound, OutboundAnswer } from '#src/platform/net/outbound.ts'
import {
  type Begun,
  beginAttempts,
  disableEndpoint,
  endDelivery,
  findStanding,
  finishDelivered,
  finishFailed,
  recordFailure,
  recordSuccesses,
  reopenDelivery,
} from './attempts.ts'
import { cancelPending } from './rows.ts'
import { ATTEMPT_TIMEOUT_MS, isHopeless, MAX_ATTEMPTS, nextDelayMs, parseRetryAfter } from './schedule.ts'
import { openSecret } from './secret.ts'
import { signDelivery } from './signature.ts'

export interface DeliverDeps {
  db: Pick<Database, 'tenant'>
  sealer: Sealer
  outbound: Pick<Outbound, 'send'>
  now?: () => Date
  random?: () => number
  /** Divides the waits between attempts, for tests. */
  timeDivisor?: number
  /** Called when an endpoint was disabled: its receiver said `gone`, or kept `failing`. */
  onDisabled?: (reason: string) => void
}

// An answer's body is not used. Reading a short one to its end keeps the connection for the next delivery.
const MAX_RESPONSE_BYTES = 16 * 1024
// Until the clock holds the jobs of the closed account, at most a minute later.
const CLOSED_WAIT_MS = 10_000
const GONE = 410
// Opening a sealed secret costs more than using it, and a busy endpoint's secret is used again at once.
const MAX_SECRETS = 1_000

export function createDeliver({
  db,
  sealer,
  outbound,
  now = () => new Date(),
  random = Math.random,
  timeDivisor = 1,
  onDisabled = () => {},
}: DeliverDeps): Work<'deliver'> {
  const secrets = new LRUCache<string, string>({ max: MAX_SECRETS })

  // Cached by the sealed bytes: a rotated secret is never found again.
  function open(endpointId: string, sealed: Buffer): string {
    const key = `${endpointId} ${sealed.toString('latin1')}`
    const known = secrets.get(key)
    if (known !== undefined) return known
    const secret = openSecret(sealer, endpointId, sealed)
    secrets.set(key, secret)
    return secret
  }

  // Newest first. The database says whether the previous one still signs.
  const secretsOf = ({ endpointId, sealedSecret, sealedPreviousSecret: previous }: Begun): string[] =>
    [sealedSecret, ...(previous === null ? [] : [previous])].map((sealed) => open(endpointId, sealed))

  async function run({ deliveryId }: { deliveryId: string }, job: RunningJob): Promise<JobOutcome> {
    const begun = await begin({ deliveryId, scope: job.scope })
    if (begun === undefined) return db.tenant(job.scope, (tx) => explain(tx, deliveryId, job))

    note({ endpoint: begun.endpointId })
    // The receiver has answered. If a restart of Postgres lost the result, the receiver would be called again.
    const record = <R>(work: () => Promise<R>) => retryWhileAway(work, job.signal)
    const answer = await send(begun, job.signal)
    // The worker that has the job now calls again; this attempt never gets a result.
    if (!answer.ok && answer.code === 'aborted') return { kind: 'retry', error: answer.detail, delayMs: 0 }
    // A status that came in time counts, whatever happened to the body after it: the body is not used.
    const { status, durationMs } = answer
    if (status === undefined || status < 200 || status >= 300) {
      return record(() => db.tenant(job.scope, (tx) => fail(tx, begun, answer, job)))
    }
    failpoint('deliver:settling')
    if (!(await record(() => succeed({ job, begun, responseStatus: status, durationMs })))) throw STALE_JOB
    return { kind: 'settled' }
  }

  const begin = createBatcher<{ deliveryId: string; scope: Scope }, Ready | undefined>({
    keyOf: ({ scope }) => keyOf(scope),
    isSplitOnFailure: true,
    async run(items) {
      const [{ scope }] = items
      const ids = items.map(({ deliveryId }) => deliveryId)
      const begun = await db.tenant(scope, async (tx) => {
        const rows = await beginAttempts(tx, ids, MAX_ATTEMPTS)
        // Opened before the commit: a missing master key must not cost the deliveries an attempt.
        return rows.map((row) => ({ ...row, secrets: secretsOf(row) }))
      })
      const bodyOf = bodiesOf(scope, begun)
      const byId = new Map(begun.map((one) => [one.deliveryId, { ...one, scope, rawBody: bodyOf(one.eventId) }]))
      // An attempt belongs to one worker: if two run the same delivery, the second finds it begun.
      return ids.map((id) => {
        const one = byId.get(id)
        byId.delete(id)
        return one
      })
    },
  })

  const succeed = createBatcher<Success, boolean>({
    keyOf: ({ job }) => keyOf(job.scope),
    isSplitOnFailure: true,
    run(items) {
      const jobs = items.map(({ job }) => job)
      return db.tenant(items[0].job.scope, async (tx) => {
        const isMine = await settleAll(tx, jobs)
        const mine = items.filter((_, index) => isMine[index])
        const news = new Set(mine.flatMap(({ begun }) => (begun.isSuccessNews ? [begun.endpointId] : [])))
        await recordSuccesses(tx, [...news])
        await finishDelivered(
          tx,
          mine.map(({ begun, ...result }) => ({ ...begun, ...result })),
        )
        return isMine
      })
    },
  })

  /** Explains why no attempt began, and returns the outcome that the job needs. */
  async function explain(tx: Tx, deliveryId: string, job: RunningJob): Promise<JobOutcome> {
    const standing = await findStanding(tx, deliveryId)
    if (standing?.status === 'pending') {
      const { endpointStatus, isEndpointDeleted, isAccountClosed, attempts } = standing
      if (endpointStatus === 'disabled' || isEndpointDeleted) await endDelivery(tx, deliveryId, 'cancelled')
      else if (attempts >= MAX_ATTEMPTS) await endDelivery(tx, deliveryId, 'failed')
      // After a crash between an attempt's end and the job's: the row says when the next attempt is due.
      else {
        const reason = 'the next attempt is not due yet, or the account is suspended or closed'
        const waitMs = Math.max(standing.waitMs, isAccountClosed ? CLOSED_WAIT_MS : 0)
        return { kind: 'defer', reason, delayMs: Math.ceil(waitMs) }
      }
    }
    await job.settle(tx)
    return { kind: 'settled' }
  }

  function send(begun: Ready, signal: AbortSignal): Promise<OutboundAnswer> {
    const { rawBody } = begun
    const nowSeconds = Math.floor(now().getTime() / 1_000)
    return outbound.send({
      account: begun.scope.accountId,
      url: begun.url,
      environment: begun.scope.environment,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Countersign-Webhooks/1',
        'service-event-id': begun.eventId,
        'service-event-type': begun.type,
        'service-delivery-id': begun.deliveryId,
        'service-delivery-attempt': String(begun.attempt),
        ...signDelivery({ rawBody, eventId: begun.eventId, secrets: begun.secrets, nowSeconds }),
      },
      body: rawBody,
      timeoutMs: ATTEMPT_TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      signal,
    })
  }

  async function fail(tx: Tx, begun: Ready, answer: OutboundAnswer, job: RunningJob): Promise<JobOutcome> {
    const { deliveryId, attempt, startedAt, endpointId } = begun
    const status = answer.status ?? null
    const result = {
      deliveryId,
      attempt,
      startedAt,
      responseStatus: status,
      error: answer.ok ? null : answer.code,
      durationMs: answer.durationMs,
    }
    const failures = await recordFailure(tx, endpointId)
    const disabledReason = status === GONE ? 'gone' : isHopeless(failures) ? 'failing' : undefined
    const retryAfterMs = answer.ok ? parseRetryAfter(answer.headers.get('retry-after'), now()) : undefined
    const delayMs =
      disabledReason === undefined ? nextDelayMs({ attempt, retryAfterMs, random, timeDivisor }) : undefined
    await finishFailed(tx, result, delayMs === undefined ? { end: 'failed' } : { delayMs })
    if (delayMs === undefined) {
      if (disabledReason !== undefined) await disable(tx, endpointId, disabledReason)
      await job.settle(tx)
      return { kind: 'settled' }
    }
    return { kind: 'retry', error: answer.ok ? `status ${status}` : `${answer.code}: ${answer.detail}`, delayMs }
  }

  async function disable(tx: Tx, endpointId: string, reason: string): Promise<void> {
    await disableEndpoint(tx, endpointId, reason)
    await cancelJobs(tx, await cancelPending(tx, endpointId))
    onDisabled(reason)
  }

  return {
    run,
    onDead: (tx, _scope, { deliveryId }) => endDelivery(tx, deliveryId, 'failed'),
    onRedrive: (tx, _scope, { deliveryId }) => reopenDelivery(tx, deliveryId),
  }
}

type Ready = Begun & { scope: Scope; secrets: string[]; rawBody: Buffer }

interface Success {
  job: RunningJob
  begun: Ready
  responseStatus: number
  durationMs: number
}

const keyOf = (scope: Scope): string => `${scope.accountId} ${scope.environment}`

// The bytes are the same for every attempt and every endpoint: all come from the event's row, in this order.
function bodiesOf({ environment, accountId }: Scope, begun: readonly Begun[]): (eventId: string) => Buffer {
  const bodies = new Map<string, Buffer>()
  for (const { eventId, type, createdAt, data } of begun) {
    if (data === null) continue
    const created_at = createdAt.toISOString()
    const envelope = { event_id: eventId, type, created_at, environment, account_id: accountId, data }
    bodies.set(eventId, Buffer.from(JSON.stringify(envelope)))
  }
  return (eventId) => {
    const body = bodies.get(eventId)
    if (body === undefined) throw new Error(`event ${eventId} came without its data`)
    return body
  }
}
