// Authorizes an action, waits for people, verifies, runs it, and reports how it ended.
//
// `failed` and `not_run` give budget back, so they are reported only where it is known that nothing ran: before `run` is called,
// or because `run` says so.

import { ConflictError } from '../core/errors.ts'
import type { Countersign } from '../countersign.ts'
import type { AuthorizeIntentRequest, VerifyResult } from '../generated/types.ts'
import { ActionFailed, NotAllowed, NotExecuted } from './errors.ts'
import { fileJournal } from './file-journal.ts'
import { type Journal, type JournalEntry, JournalError, type Outcome } from './journal.ts'
import { guardedNow, reportOutcome } from './reporting.ts'

export type GuardClient = Pick<Countersign, 'approvals' | 'intent'>

/** An action that has started, and whose end nobody has noted. */
export interface UnknownAction {
  jti: string
  decisionId: string | undefined
  /** Key that the guard was given. */
  idempotencyKey: string | undefined
  /** Time at which it started. */
  startedAt: string
}

/**
 * Tells people, or finds out in records of yours what became of the action. An outcome that it returns is reported.
 * @param error What `run` threw; undefined after a restart.
 */
export type OnUnknown = (action: UnknownAction, error: unknown) => Told | Promise<Told>

// biome-ignore lint/suspicious/noConfusingVoidType: a function that only tells people returns nothing.
type Told = Outcome | undefined | void

export interface GuardOptions
  extends Omit<AuthorizeIntentRequest, 'actionDescription' | 'actionPayload' | 'singleUse'> {
  /** What people read: `actionDescription` of authorize. */
  action: string
  payload: Record<string, unknown>
  /** Path of a file, or two functions. Without a journal, a crash leaves the budget charged. */
  journal?: string | Journal | undefined
  /** Milliseconds to wait for people. Without a limit, the wait ends with the approval. */
  approvalTimeoutMs?: number | undefined
  /** Ends the guard before the action starts. Afterwards it is for `run` to obey. */
  signal?: AbortSignal | undefined
  /** Name of the attempt in your own records: the action runs once under it. */
  idempotencyKey?: string | undefined
  /** Called when `run` throws anything else than ActionFailed and NotExecuted. */
  onUnknown?: OnUnknown | undefined
  /** For tests: the time in milliseconds. */
  now?: (() => number) | undefined
}

// Refusals of authorize, which come as errors.
const REFUSALS = [
  'account_stopped',
  'agent_session_ended',
  'agent_session_revoked',
  'agent_suspended',
  'canary_tripped',
  'device_revoked',
  'session_canary_locked',
]
const WAIT_SECONDS = 20
const WAIT_TIMEOUT_MS = 30_000
const SECOND_MS = 1_000

/**
 * Runs `run` if the action is allowed, and returns its result.
 * @throws {NotAllowed} when it is refused. @throws {JournalError} when it did not run because it could not be noted.
 * Otherwise what the client throws before the action starts, and what `run` throws.
 */
export async function guard<Result>(
  client: GuardClient,
  options: GuardOptions,
  run: (verdict: VerifyResult, signal: AbortSignal) => Promise<Result> | Result,
): Promise<Result> {
  const { idempotencyKey, onUnknown, now = Date.now, signal = new AbortController().signal } = options
  const journal = journalOf(options.journal)
  const { intentToken, jti, expiresAt, approvalId } = await authorize(client, options, signal)
  if (intentToken === null) throw new NotAllowed('token_expired', { jti })
  // The token of a repeated key may have been executed by another call. All others are of this call alone.
  const isOwn = idempotencyKey === undefined

  guardedNow.add(jti)
  try {
    const verdict = await verify(intentToken, approvalId)
    await start(verdict)
    return await runAndReport(verdict)
  } finally {
    guardedNow.delete(jti)
  }

  async function verify(token: string, firstApproval: string | undefined): Promise<VerifyResult> {
    const { approvalTimeoutMs = Number.POSITIVE_INFINITY } = options
    const deadline = now() + approvalTimeoutMs
    const awaited = new Set<string>()
    let next = firstApproval
    for (;;) {
      if (next !== undefined) {
        awaited.add(next)
        await awaitApproval(client, next, { deadline, signal, now })
      }
      const verdict = await verifyOnce(token)
      if (verdict.valid && (isOwn || verdict.alreadyExecuted !== true)) return verdict
      // A policy that was tightened since authorize may ask people now.
      next = verdict.valid ? undefined : verdict.approvalId
      if (next === undefined || awaited.has(next)) throw refusalOf(verdict, jti)
    }
  }

  async function verifyOnce(token: string): Promise<VerifyResult> {
    const { contextEvidence, context, traceId, agentSessionId, deviceId, audience } = options
    const presented = { contextEvidence, context, traceId, agentSessionId, deviceId, audience }
    const args = { intentToken: token, actionDescription: options.action, actionPayload: options.payload, ...presented }
    if (isOwn) await note({ step: 'verifying', expiresAt })
    let verdict: VerifyResult
    try {
      verdict = await client.intent.verify(args, { signal, idempotencyKey })
    } catch (error) {
      // Without an answer the service may have executed the token.
      if (isOwn) await giveBack()
      throw error
    }
    if (isOwn && !verdict.valid) await attempt(() => note({ step: 'closed' }))
    return verdict
  }

  async function start({ decisionId }: VerifyResult): Promise<void> {
    try {
      await note({ step: 'verified', decisionId, idempotencyKey })
      signal.throwIfAborted()
      await note({ step: 'started' })
    } catch (error) {
      await giveBack()
      throw error
    }
  }

  async function runAndReport(verdict: VerifyResult): Promise<Result> {
    const startedAt = timeOf()
    let result: Result
    try {
      result = await run(verdict, signal)
    } catch (error) {
      if (error instanceof ActionFailed) await settle('failed')
      else if (error instanceof NotExecuted) await settle('not_run')
      else await tellUnknown({ jti, decisionId: verdict.decisionId, idempotencyKey, startedAt }, error)
      throw error
    }
    await settle('succeeded')
    return result
  }

  /** Reports that nothing ran. What can't be reported now stays in the journal. */
  async function giveBack(): Promise<void> {
    await attempt(async () => {
      // A verification that is still under way may execute the token after this.
      if ((await reportOutcome(client, jti, 'not_run')) === 'recorded') await note({ step: 'closed' })
    })
  }

  /** The end of the action matters more than its note: the outcome is reported without it, and stays in the journal. */
  async function settle(outcome: Outcome): Promise<void> {
    await attempt(() => note({ step: 'ended', outcome }))
    await attempt(async () => {
      await reportOutcome(client, jti, outcome)
      await note({ step: 'closed' })
    })
  }

  async function tellUnknown(action: UnknownAction, error: unknown): Promise<void> {
    if (onUnknown === undefined) return
    await attempt(async () => {
      const outcome = await onUnknown(action, error)
      if (outcome) await settle(outcome)
      else await note({ step: 'closed' })
    })
  }

  async function note(entry: Omit<JournalEntry, 'jti' | 'at'>): Promise<void> {
    try {
      await journal?.append({ ...entry, jti, at: timeOf() })
    } catch (error) {
      if (error instanceof JournalError) throw error
      throw new JournalError('a note could not be written', { cause: error })
    }
  }

  function timeOf(): string {
    return new Date(now()).toISOString()
  }
}

/** The journal that an option names. */
export function journalOf<Given extends Journal | undefined>(journal: string | Given): Journal | Given {
  return typeof journal === 'string' ? fileJournal(journal) : journal
}

/** What ended the action has happened, and no later error takes its place. */
async function attempt(act: () => Promise<void>): Promise<void> {
  await act().catch(() => {})
}

async function authorize(client: GuardClient, options: GuardOptions, signal: AbortSignal) {
  const {
    action: actionDescription,
    payload: actionPayload,
    journal: _journal,
    approvalTimeoutMs: _timeout,
    signal: _signal,
    idempotencyKey,
    onUnknown: _onUnknown,
    now: _now,
    ...bindings
  } = options
  const args = { ...bindings, actionDescription, actionPayload, singleUse: true }
  try {
    return await client.intent.authorize(args, { signal, idempotencyKey })
  } catch (error) {
    if (!(error instanceof ConflictError) || !REFUSALS.includes(error.code)) throw error
    throw new NotAllowed(error.code, { detail: error.detail, cause: error })
  }
}

/** Returns when people have decided, the approval has ended, or the time is over: verify says which. */
async function awaitApproval(
  client: GuardClient,
  approvalId: string,
  { deadline, signal, now }: { deadline: number; signal: AbortSignal; now(): number },
): Promise<void> {
  for (let leftMs = deadline - now(); leftMs > 0; leftMs = deadline - now()) {
    const wait = Math.min(Math.ceil(leftMs / SECOND_MS), WAIT_SECONDS)
    const { status } = await client.approvals.retrieve(approvalId, { wait }, { signal, timeoutMs: WAIT_TIMEOUT_MS })
    if (status !== 'pending') return
  }
}

function refusalOf({ valid, reason, detail, decisionId, approvalId }: VerifyResult, jti: string): NotAllowed {
  return new NotAllowed(valid ? 'already_executed' : (reason ?? 'unknown'), { detail, decisionId, jti, approvalId })
}
