// The message of a command that can't continue: one sentence, and a stack only where the error is ours.

/** @param error Any thrown value. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const first = error instanceof AggregateError && error.message === '' ? error.errors[0] : undefined
  if (first !== undefined) return sentenceOf(first)
  const code = codeOf(error)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    const path = 'path' in error && typeof error.path === 'string' ? error.path : 'A file'
    return `${path} belongs to another user or is closed (${code}): run this as its owner, or set DATA_DIR to a folder of your own.`
  }
  if (code === 'ENOSPC') return `The disk is full: ${error.message}`
  if (isOurs(error)) return error.stack ?? error.message
  return error.message || code || error.name
}

/** An error in how a command was called: its help follows the sentence, and its exit code is 2. */
export function usageError(message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_USAGE' })
}

export function isUsageError(error: unknown): boolean {
  return error instanceof Error && /^ERR_(?:PARSE_ARGS|USAGE)/.test(codeOf(error) ?? '')
}

/**
 * Runs a command and returns its exit code: what `run` returns, 2 for a usage error, 1 for any other. An error is written to
 * stderr, with where to find the help of `npm run NAME` for a usage error.
 */
export async function exitCodeOf(name: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run()
  } catch (error) {
    const isUsage = isUsageError(error)
    process.stderr.write(`${sentenceOf(error)}\n${isUsage ? `Try: npm run ${name} -- --help\n` : ''}`)
    return isUsage ? 2 : 1
  }
}

/** Why an address could not be reached, in a few words. */
export function reasonOf(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error
  if (!(first instanceof Error)) return String(first)
  const code = codeOf(first)
  const words = code === undefined ? undefined : UNREACHABLE[code]
  return words === undefined ? first.message : `${words} (${code})`
}

const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOENT: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name could not be looked up',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'the host can not be reached',
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function isOurs(error: Error): boolean {
  return /^(?:Type|Reference|Range|Syntax|Assertion)Error$/.test(error.name) && codeOf(error) === undefined
}
