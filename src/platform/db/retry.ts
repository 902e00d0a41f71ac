const DEADLOCK = '40P01'
const SERIALIZATION = '40001'
const TRIES = 3

/** Runs a transaction again when Postgres chose it as a deadlock's victim: nothing of it has happened. */
export async function retryDeadlocks<R>(transaction: () => Promise<R>): Promise<R> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction()
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (attempt === TRIES || (code !== DEADLOCK && code !== SERIALIZATION)) throw error
    }
  }
}
