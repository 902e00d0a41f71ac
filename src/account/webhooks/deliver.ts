// The work of the deliver queue. At least once: every attempt has a number and a start before the call, and a row with
// its result after it. A crash between the two costs that attempt, never the delivery. The first 2xx ends the delivery. Attempts
// of one account that begin or succeed together share a transaction, because its wait for the disk is their main cost.

import { LRUCache } from 'lru-cache'
import { createBatcher } from '#src/platform/batching.ts'
import { note } from '#src/platform/context.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Database } from '#src/platform/db/database.ts'
import { retryWhileAway } from '#src/platform/db/retry.ts'
import type { Scope } from '#src/platform/ids.ts'
import { STALE_JOB, settleAll } from '#src/platform/jobs/backlog.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import type { Outbound, OutboundAnswer } from '#src/platform/net/outbound.ts'
import { type AttemptLog, logOf, requestHeaders } from './attempt-log.ts'
import { type Begun, beginAttempts, endDelivery, finishDelivered, outcomeOf, reopenDelivery } from './attempts.ts'
import { recordSuccesses } from './circuit-rows.ts'
import { bodyOf, envelopeOf } from './envelope.ts'
import { createFailedAttempts } from './failed-attempts.ts'
import { createOutcomeBuffer } from './outcome-buffer.ts'
import { createRecover } from './recover.ts'
import { ATTEMPT_TIMEOUT_MS, MAX_ATTEMPTS } from './schedule.ts'
import { openSecret } from './secret.ts'
import { signDelivery } from './signature.ts'
import { type AttemptOutcome, countOutcomes } from './statistics.ts'

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
  /** Called when a circuit opened, or stays open after a probe. */
  onParked?: (openMs: number) => void
}

// The log keeps this much of an answer's body. Reading a short body to its end keeps the connection for the next
// delivery.
const MAX_RESPONSE_BYTES = 16 * 1024
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
  onParked = () => {},
}: DeliverDeps): Work<'deliver'> {
  const failed = createFailedAttempts({ now, random, timeDivisor, onDisabled, onParked })
  const recover = createRecover({ db })
  const outcomes = createOutcomeBuffer({
    write: (scope, left) => db.tenant(scope, (tx) => countOutcomes(tx, scope, left)),
  })
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
    const { scope } = job
    let begun = await begin({ deliveryId, scope })
    if (begun === undefined) {
      const why = await db.tenant(scope, (tx) => failed.explain(tx, deliveryId, job))
      if (why.kind !== 'probe') return why
      begun = await begin({ deliveryId, scope })
      if (begun === undefined) return { kind: 'defer', reason: 'its endpoint changed meanwhile', delayMs: 0 }
    }

    note({ endpoint: begun.endpointId })
    outcomes.enter(scope)
    try {
      return await call(begun, job)
    } finally {
      await outcomes.leave(scope)
    }
  }

  async function call(begun: Ready, job: RunningJob): Promise<JobOutcome> {
    const { scope } = job
    // The receiver has answered. If a restart of Postgres lost the result, the receiver would be called again.
    const record = <R>(work: () => Promise<R>) => retryWhileAway(work, job.signal)
    const { answer, log } = await send(begun, job.signal)
    // The worker that has the job now calls again; this attempt never gets a result.
    if (!answer.ok && answer.code === 'aborted') return { kind: 'retry', error: answer.detail, delayMs: 0 }
    // A status that came in time counts, whatever happened to the body after it: the body is not used.
    const { status, durationMs } = answer
    if (status === undefined || status < 200 || status >= 300) {
      const attempt = { begun, scope, answer, log }
      return record(() => db.tenant(scope, (tx) => failed.fail(tx, attempt, job)))
    }
    failpoint('deliver:settling')
    if (!(await record(() => succeed({ job, begun, responseStatus: status, durationMs, log })))) throw STALE_JOB
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
    async run(items) {
      const jobs = items.map(({ job }) => job)
      const { scope } = items[0].job
      const earlier = outcomes.take(scope, items.length)
      let own: AttemptOutcome[] = []
      const settling = db.tenant(scope, async (tx) => {
        const isMine = await settleAll(tx, 'deliver', jobs)
        const mine = items.filter((_, index) => isMine[index])
        const news = new Set(mine.flatMap(({ begun }) => (begun.isSuccessNews ? [begun.endpointId] : [])))
        const results = mine.map(({ begun, ...result }) => ({ ...begun, ...result }))
        own = mine.map(({ begun, durationMs }) => outcomeOf(begun, { isDelivered: true, durationMs }))
        // Sent together, in this order: each answer awaited alone would be a round trip more.
        await Promise.all([
          recordSuccesses(tx, [...news]),
          finishDelivered(tx, results),
          earlier && countOutcomes(tx, scope, [...earlier, ...own]),
        ])
        return isMine
      })
      try {
        const isMine = await settling
        if (earlier === undefined) outcomes.add(scope, own)
        return isMine
      } catch (error) {
        outcomes.add(scope, earlier ?? [])
        throw error
      }
    },
  })

  async function send(begun: Ready, signal: AbortSignal): Promise<{ answer: OutboundAnswer; log: AttemptLog }> {
    const { rawBody, url } = begun
    const nowSeconds = Math.floor(now().getTime() / 1_000)
    const signedHeaders = signDelivery({ rawBody, eventId: begun.eventId, secrets: begun.secrets, nowSeconds })
    const calling = outbound.send({
      account: begun.scope.accountId,
      url,
      environment: begun.scope.environment,
      method: 'POST',
      headers: requestHeaders({ ...begun, eventType: begun.type }, signedHeaders),
      body: rawBody,
      timeoutMs: ATTEMPT_TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      signal,
    })
    failpoint('deliver:calling')
    const answer = await calling
    return { answer, log: logOf(answer, { url, signedHeaders }) }
  }

  return {
    run: (payload, job) => ('recoveryId' in payload ? recover.run(payload, job) : run(payload, job)),
    onDead: (tx, _scope, payload) =>
      'recoveryId' in payload ? recover.onDead(tx, payload.recoveryId) : endDelivery(tx, payload.deliveryId, 'failed'),
    onRedrive: (tx, _scope, payload) =>
      'recoveryId' in payload ? recover.onRedrive(tx, payload.recoveryId) : reopenDelivery(tx, payload.deliveryId),
  }
}

type Ready = Begun & { scope: Scope; secrets: string[]; rawBody: Buffer }

interface Success {
  job: RunningJob
  begun: Ready
  responseStatus: number
  durationMs: number
  log: AttemptLog
}

const keyOf = (scope: Scope): string => `${scope.accountId} ${scope.environment}`

// The bytes are the same for every attempt and every endpoint: one delivery of each event comes with its data.
function bodiesOf(scope: Scope, begun: readonly Begun[]): (eventId: string) => Buffer {
  const bodies = new Map<string, Buffer>()
  for (const one of begun) if (one.data !== null) bodies.set(one.eventId, bodyOf(envelopeOf(scope, one)))
  return (eventId) => {
    const body = bodies.get(eventId)
    if (body === undefined) throw new Error(`event ${eventId} came without its data`)
    return body
  }
}
