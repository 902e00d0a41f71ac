// One clock over a whole call. A timer per phase adds up to more than was promised, and a peer that sends one byte in time
// restarts it. No AbortSignal: a busy worker has one of these per call, and a signal costs more than the clock.

export type EndReason = 'timeout' | 'aborted'

export interface Deadline {
  /** Why it has ended, once it has: what failed then, failed because of it. */
  ended(): EndReason | undefined
  /** Calls back when it ends, at once when it has. Answers how to stop waiting for that. */
  onEnd(callback: () => void): () => void
  /** Rejects as soon as it ends, for work that can't be stopped. */
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

/** One that ends when it is told to. */
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
