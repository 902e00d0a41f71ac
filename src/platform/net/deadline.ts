// One clock over a whole call. A timer per phase adds up to more than was promised, and a peer that sends one byte in time
// restarts it. No AbortSignal: a busy worker has one of these per call, and a signal costs more than the clock.

export interface Deadline {
  /** Why it has ended, once it has: what failed then, failed because of it. */
  ended(): 'timeout' | 'aborted' | undefined
  /** Calls back when it ends, at once when it has. Answers how to stop waiting for that. */
  onEnd(callback: () => void): () => void
  /** Rejects as soon as it ends, for work that can't be stopped. */
  race<R>(work: Promise<R>): Promise<R>
  clear(): void
}

export function startDeadline(timeoutMs: number, outer?: AbortSignal): Deadline {
  const waiting = new Set<() => void>()
  let reason: 'timeout' | 'aborted' | undefined
  const end = (why: 'timeout' | 'aborted') => {
    if (reason !== undefined) return
    reason = why
    for (const callback of waiting) callback()
  }
  const onOuterAbort = () => end('aborted')
  const timer = setTimeout(end, timeoutMs, 'timeout')
  outer?.addEventListener('abort', onOuterAbort, { once: true })
  if (outer?.aborted) onOuterAbort()

  function onEnd(callback: () => void): () => void {
    if (reason !== undefined) callback()
    else waiting.add(callback)
    return () => waiting.delete(callback)
  }

  return {
    ended: () => reason,
    onEnd,
    race: (work) =>
      new Promise((done, fail) => {
        const stop = onEnd(() => fail(new Error(`the deadline has ended: ${reason}`)))
        work.then(done, fail).finally(stop)
      }),
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', onOuterAbort)
    },
  }
}
