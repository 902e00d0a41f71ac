/**
 * Waits for work at most this long. false when it has not ended in time: then it goes on unobserved.
 * @throws what the work throws in time.
 */
export async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((done) => {
    timer = setTimeout(done, Math.max(0, limitMs), false)
  })
  // A failure after the limit has no listener any more.
  work.catch(() => {})
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits for work. A failure is thrown when this long has passed since the call, or later: whether the work took a little
 * more or less does not show.
 */
export async function failsNoEarlier<R>(limitMs: number, work: () => Promise<R>): Promise<R> {
  let isPast = false
  let onPast = () => {}
  // Begun now and not at the failure, whose time it would show.
  const timer = setTimeout(() => {
    isPast = true
    onPast()
  }, limitMs)
  try {
    return await work()
  } catch (error) {
    if (!isPast) {
      await new Promise<void>((done) => {
        onPast = done
      })
    }
    throw error
  } finally {
    clearTimeout(timer)
  }
}
