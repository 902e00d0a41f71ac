// What the work in progress belongs to: the ids of its request or job, which every log line and span of it carries without
// being handed them.

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
  batch?: string
  screening?: string
  delivery?: string
  endpoint?: string
}

const subjects = new AsyncLocalStorage<LogSubject>()

/** Runs work on a subject of its own. */
export function within<R>(subject: LogSubject, work: () => R): R {
  return subjects.run({ ...subject }, work)
}

/** Adds what has become known of the subject; without one, nothing. */
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
 * Runs what outlives the work in progress: a timer or listener that it happens to start would otherwise speak in its name
 * for as long as it lives.
 */
export function detached<R>(work: () => R): R {
  return subjects.exit(() => untraced(work))
}
