// The log. Causes and stacks belong here; keys, tokens and secrets do not, wherever they hide.

import { type DestinationStream, type Logger, pino } from 'pino'
import { currentSubject } from './context.ts'
import { currentSpanIds } from './trace.ts'

export type Log = Logger

// Where they stand by their names...
const SECRET_NAMES = [
  'authorization',
  'x-api-key',
  'cookie',
  'set-cookie',
  'rawKey',
  'apiKey',
  'secret',
  'secrets',
  'token',
  'password',
  'masterKey',
]
// ...and by their looks, in messages and stacks: API keys, webhook secrets, passwords in connection strings.
const SECRET_LOOKS = /(svc_(?:live|test)_|whsec_)[\w+/=-]{6,}|(\b[a-z]+:\/\/[^\s:/@"]*:)[^\s@"]+(?=@)/gi
const MAX_CAUSES = 5

/**
 * @param process The Procfile's word; a field of every line.
 * @param destination stdout when absent.
 */
export function createLog(
  { process, level }: { process: string; level: string },
  destination: DestinationStream = standardOutput(),
): Log {
  const options = {
    level,
    base: { process },
    // Asked per line that is written, so that what is silent costs nothing. What a line says itself wins.
    mixin: () => ({ ...currentSubject(), ...currentSpanIds() }),
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: SECRET_NAMES.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
      censor: '[redacted]',
    },
    serializers: { err: describeError, error: describeError, cause: describeError },
    hooks: { streamWrite: (line: string) => line.replaceAll(SECRET_LOOKS, '$1$2[redacted]') },
  }
  return pino(options, destination)
}

// Every line is written when it is logged. pino would flush once more after a fatal one, and that tries for ever, on the main
// thread, when nobody reads the log any more: a process that must end would not (sonic-boom 4.2.1, `flushSync`, any error).
function standardOutput(): DestinationStream {
  return Object.assign(pino.destination({ fd: 1, sync: true }), { flushSync() {} })
}

// Chosen fields only: drivers hang rows, parameters and whole connections on their errors.
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : String(error)
  const code = 'code' in error && ['string', 'number'].includes(typeof error.code) ? { code: error.code } : {}
  const constraint =
    'constraint' in error && typeof error.constraint === 'string' ? { constraint: error.constraint } : {}
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause
  const cause = inner === undefined || depth >= MAX_CAUSES ? {} : { cause: describeError(inner, depth + 1) }
  return { type: error.name, message: error.message, stack: error.stack, ...code, ...constraint, ...cause }
}
