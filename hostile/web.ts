// What all parsers through the public port share: requests with a key, and how their answers are judged.

import type { System } from '../test/support/system.ts'
import type { Parser } from './parser.ts'
import type { Dice } from './random.ts'
import { exchange, judgeAnswer, readAnswer, requestBytes } from './wire.ts'

export type Header = readonly [name: string, value: string]

// A slow answer is not a hang: the machine does other work too. The thread's own time is bounded where parsers run
// alone.
const LIMIT = { kind: 'wall', ms: 5_000 } as const
export const REFUSALS = [
  'invalid_json',
  'invalid_request',
  'authentication_required',
  'invalid_api_key',
  'environment_mismatch',
  'not_found',
  'method_not_allowed',
  'conflict',
  'external_id_reused',
  'invalid_state_transition',
  'idempotency_key_reused',
  'idempotency_in_progress',
  'payload_too_large',
  'unsupported_media_type',
  'range_not_satisfiable',
  'request_timeout',
  'cut',
  'without a body',
]
export const NDJSON: Header = ['Content-Type', 'application/x-ndjson']
export const JSON_BODY: Header = ['Content-Type', 'application/json']
export const NO_WAIT: Header = ['Prefer', 'wait=0']

// Patience with valid requests.
const PATIENCE_MS = 60_000

interface WebParserOptions {
  /** Gets the answer to what was accepted, to undo its effect, or to check it. */
  after?(answer: Record<string, unknown>, sent: Buffer): void | Promise<void>
  /** A request may never end. */
  isBroken?: boolean
  /** Refusals of these routes alone. */
  refusals?: readonly string[]
}

export type Web = ReturnType<typeof createWeb>

/** @param key Has every scope. */
export function createWeb({ baseUrl, key }: Pick<System, 'baseUrl' | 'key'>) {
  const port = Number(new URL(baseUrl).port)
  const auth: Header = ['Authorization', `Bearer ${key}`]
  return {
    port,
    auth,
    /**
     * The answer to a request that is right, as JSON.
     * @throws {Error} when it is refused.
     */
    async ask(path: string, body?: Uint8Array, headers: readonly Header[] = [JSON_BODY], method = 'POST') {
      const sent =
        body === undefined
          ? requestBytes({ path, headers: [auth] })
          : requestBytes({ method, path, headers: [auth, ...headers] }, body)
      // The first inference loads its model, which takes long on a busy machine.
      const answer = readAnswer(await exchange(port, sent, { silenceMs: PATIENCE_MS, giveUpMs: PATIENCE_MS }))
      if (answer === undefined || answer.status >= 400) throw new Error(`${path}: ${answer?.status} ${answer?.body}`)
      return JSON.parse(answer.body.toString())
    },
    post: (path: string, body: Buffer, ...headers: Header[]) =>
      requestBytes({ method: 'POST', path, headers: [auth, ...headers] }, body),
    async remove(path: string): Promise<void> {
      await exchange(port, requestBytes({ method: 'DELETE', path, headers: [auth] }))
    },
    /** A parser whose cases are sent as they are made. */
    parser(name: string, make: (dice: Dice) => Buffer, options: WebParserOptions = {}): Parser {
      const { after, isBroken = false, refusals = [] } = options
      return {
        name,
        source: 'app',
        limit: LIMIT,
        refusals: [...REFUSALS, ...refusals],
        make,
        async run(input) {
          const bytes = await exchange(port, input, { silenceMs: isBroken ? 150 : 4_000 })
          const outcome = judgeAnswer(bytes)
          if (outcome === 'accepted') await after?.(JSON.parse(readAnswer(bytes)?.body.toString() || '{}'), input)
          return outcome
        },
      }
    },
  }
}

export const jsonOf = (value: unknown) => Buffer.from(JSON.stringify(value))

const TIMES = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59Z',
  '9999-12-31T23:59:59-23:59',
  '2026-02-28T24:00:00Z',
  '2026-11-20T10:00:00.999999999999Z',
  '2024-02-29T00:00Z',
  '1969-12-31T23:59:59.999Z',
  '4713-01-01T00:00:00Z',
]

export function timeOf(dice: Dice): string {
  return dice.pick(TIMES)
}

// A request line ends at the first space or line break: what follows would be another mutation (see the whole
// requests).
export function targetOf(text: string): string {
  const target = [...text].map((one) => (one > '\xff' ? encodeURIComponent(one.toWellFormed()) : one)).join('')
  return target.replaceAll(/[\r\n ]/g, '') || '/'
}
