// The ids of the request or job in progress. Every log line and span of it carries them without being passed them.

import { AsyncLocalStorage } from 'node:async_hooks'
import { describeSpan, untraced } from './trace.ts'

/** Ids and names only: they go into logs and traces. */
export interface LogSubject {
  requestId?: string
  /** `GET /v1/claims/:id`, as declared. */
  route?: string
  queue?: string
  job?: string
  attempt?: number
  account?: string
  claim?: string
  case?: string
  attestation?: string
  reevaluation?: string
  batch?: string
  screening?: string
  delivery?: string
  endpoint?: string
}

const subjects = new AsyncLocalStorage<LogSubject>()

/** Runs work with its own subject. */
export function within<R>(subject: LogSubject, work: () => R): R {
  return subjects.run({ ...subject }, work)
}

/** Adds ids that became known to the subject; does nothing without one. */
export function note(more: LogSubject): void {
  const subject = subjects.getStore()
  if (subject === undefined) return
  Object.assign(subject, more)
  describeSpan(more)
}

export function currentSubject(): LogSubject | undefined {
  return subjects.getStore()
}

/**
 * Runs work that outlives the request or job in progress. Otherwise a timer or listener that it starts would log and
 * trace under that request's ids for its whole life.
 */
export function detached<R>(work: () => R): R {
  return subjects.exit(() => untraced(work))
}
