// Handing a job to the engine is a transaction of its own: a caller alone has it done at once, but of a crowd the dispatcher,
// which looks every 25 ms while jobs come, moves hundreds with one.
const CROWD = 4

export interface EagerDispatch {
  /** Counts until a job is with the engine, so that neither of the two alone makes a crowd. */
  whileCounted<R>(work: () => Promise<R>): Promise<R>
  /** Hands a job on at once, unless there is a crowd. */
  dispatchIfIdle(jobId: string): void
}

/** @param dispatchSoon Failing is no failure: the dispatcher finds the job. */
export function createEagerDispatch(dispatchSoon: (jobId: string) => Promise<void>): EagerDispatch {
  let underWay = 0
  const whileCounted: EagerDispatch['whileCounted'] = async (work) => {
    underWay += 1
    try {
      return await work()
    } finally {
      underWay -= 1
    }
  }
  return {
    whileCounted,
    dispatchIfIdle(jobId) {
      if (underWay < CROWD) void whileCounted(() => dispatchSoon(jobId))
    },
  }
}
