// Tells a store that is away from an error of our own.

// PostgreSQL appendix A: 08 connection exceptions, 53 insufficient resources (also too many connections), 57P0x
// operator intervention (also "the database system is starting up"), 57014 statement timeout, 55P03 lock timeout, 25006
// a standby that was promoted over, 25P03 idle timeout, 40001 and 40P01 serialization failure and deadlock.
const SQLSTATE = /^(?:08[0-9A-Z]{3}|53[0-9A-Z]{3}|57P0[0-9]|57014|55P03|25006|25P03|40001|40P01)$/
const ERRNO = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // Errors of this machine rather than of a peer, and as temporary: disk full, out of descriptors.
  'ENOSPC',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
])
// pg and pg-pool give these errors no code.
const PG_MESSAGE =
  /^(?:timeout exceeded when trying to connect|timeout expired|Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|Cannot use a pool after calling end)/
// A feature may have wrapped the driver's error; no code wraps it more often than this.
const MAX_CAUSES = 4

const LOCK_TIMEOUT = '55P03'

/** Whether a lock timed out: another transaction held the row, and this work is not at fault. */
export function isLockTimeout(error: unknown): boolean {
  return codesOf(error).includes(LOCK_TIMEOUT)
}

// What ends a wait of this process after a time, rather than an answer: a connection, a statement, a lock.
const TIMED_OUT = new Set(['57014', LOCK_TIMEOUT, 'ETIMEDOUT'])
const TIMED_OUT_MESSAGE =
  /^(?:timeout exceeded when trying to connect|timeout expired|Connection terminated due to connection timeout|Query read timeout)/

/** Whether a store did not answer in time. On a busy machine that says nothing about the store. */
export function isTimeout(error: unknown): boolean {
  return (
    codesOf(error).some((code) => TIMED_OUT.has(code)) ||
    chainOf(error).some(({ message }) => TIMED_OUT_MESSAGE.test(message))
  )
}

/** Whether a store was unreachable or took nothing now: the same call may succeed in a moment. */
export function isUnavailable(error: unknown): boolean {
  return (
    codesOf(error).some((code) => SQLSTATE.test(code) || ERRNO.has(code)) ||
    chainOf(error).some((one) => PG_MESSAGE.test(one.message) || isRefusedSocket(one))
  )
}

// A Unix socket is a file: without its server it is missing (ENOENT), and a server with too many callers says EAGAIN.
function isRefusedSocket(error: Error): boolean {
  return 'syscall' in error && error.syscall === 'connect'
}

function codesOf(error: unknown): string[] {
  return chainOf(error).flatMap((one) => ('code' in one && typeof one.code === 'string' ? one.code : []))
}

function chainOf(error: unknown): Error[] {
  const chain: Error[] = []
  let current = error
  while (chain.length < MAX_CAUSES && current instanceof Error) {
    chain.push(current)
    current = current.cause
  }
  return chain
}
