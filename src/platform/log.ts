// The log. Causes and stacks belong here. Keys, tokens and secrets do not, wherever they occur.

import { type DestinationStream, pino } from 'pino'
import type { LogFields } from '#src/catalogue/log-fields.ts'
import { currentSubject } from './context.ts'
import { currentSpanIds } from './trace.ts'

/** A line has fields of the catalogue only, also where they come out of a variable. */
interface LogLine {
  <Fields extends LogFields>(
    fields: Fields & { [Name in Exclude<keyof Fields, keyof LogFields>]: 'is no field of src/catalogue/log-fields.ts' },
    message: string,
  ): void
  (message: string): void
}

export interface Log extends Record<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', LogLine> {
  child(fields: LogFields): Log
  isLevelEnabled(level: string): boolean
}

// Secrets by the names of their fields...
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
// ...and by their patterns, in messages and stacks: API keys, webhook secrets (~1 is a slash in a JSON pointer), passwords
// in connection strings.
const KEY_PATTERNS = /(svc_(?:live|test|scim)_|whsec_)[\w+/=~-]{6,}/gi
// The tokens of links and sessions are 256 random bits in base64url, 43 characters; the signature of a signed token has
// 86. A capital tells them from ids and names. An escape of JSON may stand before one, and is no part of it.
const TOKEN_PATTERN = /(?<=^|[^\w-]|\\[bfnrt]|\\u[\da-f]{4})(?<!\\(?=[bfnrtu]))(?=[\w-]{0,42}[A-Z])[\w-]{43,}/g
// A key of 256 bits in standard base64, such as the master key.
const BASE64_KEY_PATTERN = /(?<![\w+/])[\w+/]{43}=/g
const URL_LOOKS = /\b[a-z]+:\/\/[^\s:/@"]*:/i
const URL_DELIMITER = /[\s"]/
const CENSOR = '[redacted]'
const MAX_CAUSES = 5

/**
 * @param process The process's name in the Procfile; a field of every line.
 * @param destination stdout when absent.
 */
export function createLog(
  { process, level }: { process: string; level: string },
  destination: DestinationStream = standardOutput(),
): Log {
  const options = {
    level,
    base: { process },
    // Called per line that is written, so that a disabled level costs nothing. A line's own fields win.
    mixin: () => ({ ...currentSubject(), ...currentSpanIds() }),
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: SECRET_NAMES.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
      censor: CENSOR,
    },
    serializers: { err: describeError, error: describeError, cause: describeError },
    hooks: { streamWrite: redactSecrets },
  }
  return pino(options, destination)
}

/** Removes secrets from a line by their patterns, in time linear in its length: strangers write parts of log lines. */
export function redactSecrets(line: string): string {
  return redactPasswords(redactTokens(line))
}

/** The same for a text that quotes a request to its caller: API keys, webhook secrets and tokens. */
export function redactTokens(text: string): string {
  return text
    .replaceAll(KEY_PATTERNS, `$1${CENSOR}`)
    .replaceAll(TOKEN_PATTERN, CENSOR)
    .replaceAll(BASE64_KEY_PATTERN, CENSOR)
}

// A password stands between a scheme, a user and the next "@". One expression for all of it would search for the "@"
// from each scheme to the end of the line. So the search starts at each "@" and goes back at most to the previous one.
function redactPasswords(line: string): string {
  let redacted = ''
  let written = 0
  let previous = 0
  for (let at = line.indexOf('@'); at !== -1; at = line.indexOf('@', at + 1)) {
    let start = at
    while (start > previous && !URL_DELIMITER.test(line.charAt(start - 1))) start -= 1
    previous = at + 1
    const match = URL_LOOKS.exec(line.slice(start, at))
    if (match === null) continue
    const password = start + match.index + match[0].length
    if (password === at) continue
    redacted += line.slice(written, password) + CENSOR
    written = at
  }
  return redacted + line.slice(written)
}

// Every line is written when it is logged. After a fatal line pino would flush once more. When the reader of the log is
// gone, that flush retries forever on the main thread, and a process that must end would not (sonic-boom 4.2.1,
// `flushSync`, any error).
function standardOutput(): DestinationStream {
  return Object.assign(pino.destination({ fd: 1, sync: true }), { flushSync() {} })
}

// Chosen fields only: drivers put rows, parameters and whole connections on their errors.
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : String(error)
  const code = 'code' in error && ['string', 'number'].includes(typeof error.code) ? { code: error.code } : {}
  const constraint =
    'constraint' in error && typeof error.constraint === 'string' ? { constraint: error.constraint } : {}
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause
  const cause = inner === undefined || depth >= MAX_CAUSES ? {} : { cause: describeError(inner, depth + 1) }
  return { type: error.name, message: error.message, stack: error.stack, ...code, ...constraint, ...cause }
}
