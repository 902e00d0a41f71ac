// Dispatching a job is a transaction of its own. A single caller's job is dispatched at once. Above this many jobs at a
// time the dispatcher, which polls every 25 ms while jobs come, moves hundreds in one transaction.
const MAX_EAGER = 4

export interface EagerDispatch {
  /**
   * Counts the work until its job is in the engine, so that the job and its dispatch are counted as concurrent work.
   */
  whileCounted<R>(work: () => Promise<R>): Promise<R>
  /** Dispatches a job at once, unless too many are under way. */
  dispatchIfIdle(jobId: string): void
}

/** @param dispatchSoon May fail: the dispatcher finds the job. */
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
      if (underWay < MAX_EAGER) void whileCounted(() => dispatchSoon(jobId))
    },
  }
}
