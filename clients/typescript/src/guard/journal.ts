// What a guard notes of an action. After the death of its process, the notes say which actions never started: only those may give
// their budget back.

import type { IntentOutcome } from '../generated/types.ts'

export type Outcome = IntentOutcome

/**
 * `verifying`: the service is asked, and may execute the token. `verified`: it has. `started`: `run` is called next. `ended`: how
 * the action ended, which the service may not know yet. `closed`: nothing is left to do.
 */
export type JournalStep = 'verifying' | 'verified' | 'started' | 'ended' | 'closed'

/** One note. It contains ids alone: no token, API key, description or payload. */
export interface JournalEntry {
  step: JournalStep
  /** Id of the token, under which the service knows the execution. */
  jti: string
  /** Time of the note. */
  at: string
  /** With `verifying`: the token can't be executed later. */
  expiresAt?: string | undefined
  /** With `verified`. */
  decisionId?: string | undefined
  /** With `verified`: the key that the caller gave. */
  idempotencyKey?: string | undefined
  /** With `ended`. */
  outcome?: Outcome | undefined
}

/** A journal belongs to one process at a time. */
export interface Journal {
  /** Resolves when the note survives the death of the process and of the machine. When it rejects, the action does not run. */
  append(entry: JournalEntry): Promise<void>
  /** Returns the notes in their order. Those of closed actions may be left out. */
  read(): Promise<JournalEntry[]>
}

/** An action that was not closed. */
export interface OpenAction {
  step: Exclude<JournalStep, 'closed'>
  jti: string
  /** Time of its last note. */
  at: string
  expiresAt: string | undefined
  decisionId: string | undefined
  idempotencyKey: string | undefined
  outcome: Outcome | undefined
}

const ORDER: readonly JournalStep[] = ['verifying', 'verified', 'started', 'ended', 'closed']

export function openActionsOf(entries: readonly JournalEntry[]): OpenAction[] {
  const actions = new Map<string, OpenAction>()
  for (const entry of entries) {
    const { step, jti, at } = entry
    if (step === 'closed') {
      actions.delete(jti)
      continue
    }
    const before = actions.get(jti)
    // What started stays started.
    const isLater = before === undefined || ORDER.indexOf(step) >= ORDER.indexOf(before.step)
    actions.set(jti, {
      step: isLater ? step : before.step,
      jti,
      at,
      expiresAt: entry.expiresAt ?? before?.expiresAt,
      decisionId: entry.decisionId ?? before?.decisionId,
      idempotencyKey: entry.idempotencyKey ?? before?.idempotencyKey,
      outcome: entry.outcome ?? before?.outcome,
    })
  }
  return [...actions.values()]
}

export function isEntry(value: unknown): value is JournalEntry {
  const { step, jti } = (value ?? {}) as { step?: unknown; jti?: unknown }
  return typeof jti === 'string' && ORDER.includes(step as JournalStep)
}

/** A note could not be written or read. Where it was to precede the action, the action did not run. */
export class JournalError extends Error {
  override readonly name = 'JournalError'
}
