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
