// One deadline for a whole call. Timers per phase add up to more than the promised time, and a peer restarts them by
// sending a byte in time. No AbortSignal: a busy worker has one deadline per call, and a signal costs more than this.

export type EndReason = 'timeout' | 'aborted'

export interface Deadline {
  /** Why the deadline has ended; undefined before. Errors after that are its consequence. */
  ended(): EndReason | undefined
  /** Calls back when the deadline ends, or at once when it has ended. Returns a function that removes the callback. */
  onEnd(callback: () => void): () => void
  /** Rejects as soon as the deadline ends, for work that can't be stopped. */
  race<R>(work: Promise<R>): Promise<R>
  clear(): void
}

export function startDeadline(timeoutMs: number, outer?: AbortSignal): Deadline {
  const { end, ...deadline } = createManualDeadline()
  const onOuterAbort = () => end('aborted')
  const timer = setTimeout(end, timeoutMs, 'timeout')
  outer?.addEventListener('abort', onOuterAbort, { once: true })
  if (outer?.aborted) onOuterAbort()
  return {
    ...deadline,
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', onOuterAbort)
    },
  }
}

/** A deadline that ends when `end` is called. */
export function createManualDeadline(): Deadline & { end(reason: EndReason): void } {
  const waiting = new Set<() => void>()
  let reason: EndReason | undefined

  function onEnd(callback: () => void): () => void {
    if (reason !== undefined) callback()
    else waiting.add(callback)
    return () => waiting.delete(callback)
  }

  return {
    end(why) {
      if (reason !== undefined) return
      reason = why
      for (const callback of waiting) callback()
    },
    ended: () => reason,
    onEnd,
    race: (work) =>
      new Promise((done, fail) => {
        const stop = onEnd(() => fail(new Error(`the deadline has ended: ${reason}`)))
        work.then(done, fail).finally(stop)
      }),
    clear() {},
  }
}
