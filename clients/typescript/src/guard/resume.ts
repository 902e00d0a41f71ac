// After a restart: closes what an earlier process left open in its journal.

import { ConflictError, ConnectionError, NotFoundError, RateLimitError, ServerError } from '../core/errors.ts'
import { type GuardClient, journalOf, type OnUnknown } from './guard.ts'
import { type Journal, type JournalEntry, type OpenAction, type Outcome, openActionsOf } from './journal.ts'
import { guardedNow, reportOutcome } from './reporting.ts'

/** Ids of tokens. */
export interface ResumedGuards {
  /** The service has their outcome, or never executed them. */
  closed: string[]
  /** `onUnknown` was told of them. */
  unknown: string[]
  /** They stay in the journal: the service is not reachable, refuses this key, or may still execute the token. */
  open: string[]
}

// The service keeps a token until 31 days after its expiry, which is at most 7 days and an hour after its issue.
const KEPT_MS = 40 * 24 * 3_600_000

/**
 * Call it once at the start, before the first guard. What never started is reported as `not_run`; what ended without a report is
 * reported; `onUnknown` is called once for each action that started and whose end was not noted. Where `onUnknown` throws, it is
 * called again at the next start.
 */
export async function resumeGuards(
  client: GuardClient,
  given: string | Journal,
  onUnknown: OnUnknown,
  { now = Date.now }: { now?: () => number } = {},
): Promise<ResumedGuards> {
  const journal = journalOf(given)
  const resumed: ResumedGuards = { closed: [], unknown: [], open: [] }
  // Later ones don't each wait for a service that is not reachable.
  let isReachable = true
  const actions = openActionsOf(await journal.read()).filter(({ jti }) => !guardedNow.has(jti))
  for (const { jti } of actions) guardedNow.add(jti)
  try {
    for (const action of actions) {
      if (action.step !== 'started') await closeOrKeep(action, action.outcome ?? 'not_run')
    }
    // What `onUnknown` throws keeps no report back.
    for (const action of actions) if (action.step === 'started') await ask(action)
  } finally {
    for (const { jti } of actions) guardedNow.delete(jti)
  }
  return resumed

  async function ask(action: OpenAction): Promise<void> {
    const { jti, decisionId, idempotencyKey, at: startedAt } = action
    if (await hasOutcome(jti)) return close(jti)
    const outcome = await onUnknown({ jti, decisionId, idempotencyKey, startedAt }, undefined)
    resumed.unknown.push(jti)
    if (outcome) {
      await append({ step: 'ended', jti, outcome })
      await closeOrKeep({ ...action, step: 'ended' }, outcome)
    } else await append({ step: 'closed', jti })
  }

  /** Whether the outcome was reported, and only its note is missing. */
  async function hasOutcome(jti: string): Promise<boolean> {
    const execution = await whileReachable(() => client.intent.executions.retrieve(jti))
    return execution !== undefined && execution.status !== 'executed'
  }

  async function closeOrKeep({ jti, step, at, expiresAt }: OpenAction, outcome: Outcome): Promise<void> {
    const state = await whileReachable(() => reportOutcome(client, jti, outcome))
    const isOver = step !== 'verifying' || expiresAt === undefined || Date.parse(expiresAt) < now()
    const isPurged = isReachable && state === undefined && Date.parse(at) + KEPT_MS < now()
    if (state === 'recorded' || (state === 'not_executed' && isOver) || isPurged) await close(jti)
    else resumed.open.push(jti)
  }

  async function close(jti: string): Promise<void> {
    await append({ step: 'closed', jti })
    resumed.closed.push(jti)
  }

  function append(entry: Omit<JournalEntry, 'at'>): Promise<void> {
    return journal.append({ ...entry, at: new Date(now()).toISOString() })
  }

  /** undefined where the service gives no answer, or none to this key. */
  async function whileReachable<Answer>(call: () => Promise<Answer>): Promise<Answer | undefined> {
    if (!isReachable) return undefined
    try {
      return await call()
    } catch (error) {
      if (error instanceof ConnectionError || error instanceof ServerError || error instanceof RateLimitError) {
        isReachable = false
      } else if (!(error instanceof NotFoundError || error instanceof ConflictError)) throw error
      return undefined
    }
  }
}
