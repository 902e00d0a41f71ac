// One clock over a whole call. A timer per phase adds up to more than was promised, and a peer that sends one byte in time
// restarts it.

export interface Deadline {
  signal: AbortSignal
  /** Why the signal was aborted, once it was: what failed then, failed because of it. */
  ended(): 'timeout' | 'aborted' | undefined
  /** Rejects as soon as the signal is aborted, for work that takes no signal. */
  race<R>(work: Promise<R>): Promise<R>
  clear(): void
}

export function startDeadline(timeoutMs: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController()
  let reason: 'timeout' | 'aborted' | undefined
  const end = (why: 'timeout' | 'aborted') => {
    reason ??= why
    controller.abort()
  }
  const onOuterAbort = () => end('aborted')
  const timer = setTimeout(end, timeoutMs, 'timeout')
  outer?.addEventListener('abort', onOuterAbort, { once: true })
  if (outer?.aborted) onOuterAbort()

  return {
    signal: controller.signal,
    ended: () => reason,
    race: (work) =>
      new Promise((done, fail) => {
        const onEnd = () => fail(controller.signal.reason)
        if (controller.signal.aborted) onEnd()
        controller.signal.addEventListener('abort', onEnd, { once: true })
        work.then(done, fail)
      }),
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', onOuterAbort)
    },
  }
}
