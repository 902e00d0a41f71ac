// The ids of the request or job in progress. Every log line and span of it carries them without being passed them.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { LogSubject } from '#src/catalogue/log-fields.ts'
import { describeSpan, untraced } from './trace.ts'

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
