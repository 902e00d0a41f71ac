// Requests made to be costly, through the public port: each is small or looks honest, and causes much work.

import { slowAvif } from '../test/support/slow-avif.ts'
import type { System } from '../test/support/system.ts'
import { makeCostlyChain } from './costly-parsers.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { hold, type Parser } from './parser.ts'
import type { Dice } from './random.ts'
import { attestBody, CHAIN } from './seeds.ts'
import { type Header, JSON_BODY, jsonOf, NDJSON, NO_WAIT, REFUSALS } from './web.ts'
import { exchange, judgeAnswer, readAnswer, requestBytes } from './wire.ts'

const LIMIT = { kind: 'wall', ms: 5_000 } as const
// A picture may wait for the decoding of those before it, seconds each.
const PICTURE_LIMIT = { kind: 'wall', ms: 9_000 } as const
const PICTURE_SILENCE_MS = 9_000
const MEGABYTE = 1024 * 1024
const MAX_LINES = 10
const ATTEST = '/v1/claims/attest'
const SCREEN = '/v1/media/screen'
const BATCHES = '/v1/claims/batches'
// The largest bodies and the slowest pictures are one case in so many: each takes the service as long as a hundred
// others.
const LARGE_EVERY = 12
const SLOW_EVERY = 40

export function costlyWebParsers({ baseUrl, key }: Pick<System, 'baseUrl' | 'key'>): Parser[] {
  const port = Number(new URL(baseUrl).port)
  const auth: Header = ['Authorization', `Bearer ${key}`]
  const post = (path: string, body: Buffer, ...headers: Header[]) =>
    requestBytes({ method: 'POST', path, headers: [auth, ...headers] }, body)

  function web(name: string, make: (dice: Dice) => Buffer, judge = judgeAnswer): Parser {
    const run = async (input: Buffer) => judge(await exchange(port, input))
    return { name, source: 'app', limit: LIMIT, refusals: REFUSALS, make, run }
  }

  return [
    web('POST device: RSA keys of every length', (dice) => {
      const chainOf = () => ({ certificate_chain: makeCostlyChain(dice).map((der) => der.toString('base64')) })
      if (dice.once(2)) return post('/v1/admin/devices', jsonOf(chainOf()), JSON_BODY)
      const lines = Array.from({ length: 1 + dice.below(MAX_LINES) }, () => jsonOf(chainOf()))
      return post('/v1/admin/devices/batches', Buffer.from(lines.join('\n')), NDJSON)
    }),
    {
      ...web('POST root CA: RSA keys of every length', (dice) => {
        const certificate = makeCostlyChain(dice)[1]?.toString('base64')
        return post('/v1/admin/root-cas', jsonOf({ name: 'Costly', certificate }), JSON_BODY)
      }),
      async run(input) {
        const bytes = await exchange(port, input)
        const outcome = judgeAnswer(bytes)
        // Up to a hundred roots are allowed, and every chain is checked against each of them.
        if (outcome === 'accepted') {
          const { root_ca_id: id } = JSON.parse(readAnswer(bytes)?.body.toString() ?? '{}')
          await exchange(port, requestBytes({ method: 'DELETE', path: `/v1/admin/root-cas/${id}`, headers: [auth] }))
        }
        return outcome
      },
    },
    web('POST attest: chains of RSA keys of every length', (dice) => {
      const chain = makeCostlyChain(dice).map((der) => der.toString('base64'))
      const body = { ...attestBody(inlineOf(slowAvif(dice.below(10)))), certificate_chain: chain }
      return post('/v1/claims/attest', jsonOf({ ...body, external_id: undefined }), JSON_BODY, NO_WAIT)
    }),
    web('POST of large bodies', (dice) => {
      const size = dice.once(LARGE_EVERY) ? (dice.once(2) ? 20 : 21) * MEGABYTE : MEGABYTE
      const { path, body } = largeRequest(dice, size)
      return post(path, body, JSON_BODY, NO_WAIT)
    }),
    web(
      'POST attest: a member twice',
      (dice) => {
        const text = writeTwice(attestBody(inlineOf(slowAvif(0))), dice)
        return post(dice.once(3) ? '/v1/claims/batches' : '/v1/claims/attest', Buffer.from(text), JSON_BODY, NO_WAIT)
      },
      (bytes) => {
        const outcome = judgeAnswer(bytes)
        // Two parsers would read two values.
        hold(outcome !== 'accepted', 'a body that has a member twice is refused')
        return outcome
      },
    ),
    {
      name: 'POST media, and its thumbnail: pictures that are slow',
      source: 'app',
      limit: PICTURE_LIMIT,
      // A request that waits too long behind its own account's pictures may be told to retry.
      refusals: [...REFUSALS, 'service_unavailable'],
      make: (dice) => picture(dice),
      async run(input) {
        const stored = await exchange(port, post('/v1/media', input, ['Content-Type', 'image/avif']))
        const outcome = judgeAnswer(stored)
        if (outcome !== 'accepted') return outcome
        const { media_id: id } = JSON.parse(readAnswer(stored)?.body.toString() ?? '{}')
        const asked = requestBytes({ path: `/v1/media/${id}/thumbnail`, headers: [auth] })
        const shown = await exchange(port, asked, { silenceMs: PICTURE_SILENCE_MS })
        const answer = readAnswer(shown)
        if (answer?.status !== 503) return judgeAnswer(shown)
        hold(answer.headers.has('retry-after'), 'who is asked to come again is told when')
        return JSON.parse(answer.body.toString()).code
      },
    },
  ]
}

/** A picture that takes seconds, in some cases; else one of its size with some bytes broken. */
function picture(dice: Dice): Buffer {
  const whole = slowAvif(dice.below(1_000_000))
  if (dice.once(SLOW_EVERY)) return whole
  const sides = whole.indexOf('ispe')
  const other = Buffer.from(whole)
  if (dice.once(2)) {
    // The header states other sides than the picture has.
    other.writeUInt32BE(dice.pick([0, 1, 8, 7_999, 8_001, 30_000, 30_001, 2 ** 31]), sides + 8)
    return other
  }
  return mutateBytes([other.subarray(0, other.length - 40 - dice.below(400))], dice, 64 * 1024)
}

/** Valid JSON of about so many bytes: in its proper place, or in another. */
function largeRequest(dice: Dice, bytes: number): { path: string; body: Buffer } {
  const data = slowAvif(dice.below(1_000), Math.floor((bytes * 3) / 4) - 6_000).toString('base64')
  const inline = { content_type: 'image/avif', data }
  const capture = (media: object, more: object = {}) =>
    jsonOf({ ...attestBody(media), external_id: undefined, ...more })
  const makers: readonly { path: string; make(): Buffer }[] = [
    { path: ATTEST, make: () => capture(inline) },
    { path: SCREEN, make: () => jsonOf({ media: inline }) },
    // Almost base64.
    { path: ATTEST, make: () => capture({ ...inline, data: `${data.slice(0, -5)}!${data.slice(-4)}` }) },
    // The media are small, and the text around them is large.
    { path: ATTEST, make: () => padded(capture(inlineOf(slowAvif(1))), bytes - 4_000) },
    { path: SCREEN, make: () => jsonOf({ media: { ...inline, data: '\\u0041'.repeat(bytes / 8) } }) },
    { path: BATCHES, make: () => Buffer.from(`[${'"AAAA",'.repeat(Math.min(bytes / 8, 100_000))}"A"]`) },
    { path: ATTEST, make: () => capture(inlineOf(slowAvif(2)), { certificate_chain: [data] }) },
    { path: ATTEST, make: () => capture(inlineOf(slowAvif(2)), { claim: { reference: data } }) },
  ]
  const { path, make } = dice.pick(makers)
  return { path: dice.once(6) ? dice.pick([ATTEST, SCREEN, BATCHES, '/v1/cases']) : path, body: make() }
}

/** The same object, with spaces before its end. */
function padded(json: Buffer, spaces: number): Buffer {
  return Buffer.concat([json.subarray(0, -1), Buffer.alloc(spaces, ' '), Buffer.from('}')])
}

function inlineOf(bytes: Buffer): object {
  return { content_type: 'image/avif', data: bytes.toString('base64') }
}

/** The value as JSON, with one member of one of its objects twice: with the same value, or with another. */
function writeTwice(value: object, dice: Dice): string {
  const objects: object[] = []
  const collect = (one: unknown) => {
    if (typeof one !== 'object' || one === null) return
    if (!Array.isArray(one) && Object.keys(one).length > 0) objects.push(one)
    for (const inner of Object.values(one)) collect(inner)
  }
  collect(value)
  const chosen = dice.pick(objects)
  const name = dice.pick(Object.keys(chosen))
  const second = dice.pick(['the same', null, 0, 'other', CHAIN.length, {}, []] as const)
  const isFirst = dice.once(2)
  const write = (one: unknown): string => {
    if (typeof one !== 'object' || one === null) return JSON.stringify(one)
    if (Array.isArray(one)) return `[${one.map(write).join(',')}]`
    const members = Object.entries(one)
      .filter(([, inner]) => inner !== undefined)
      .map(([key, inner]) => `${JSON.stringify(key)}:${write(inner)}`)
    if (one !== chosen) return `{${members.join(',')}}`
    const own: unknown = Object.entries(one).find(([key]) => key === name)?.[1]
    // In another notation it is still the same name.
    const spelled = dice.once(3)
      ? `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"`
      : JSON.stringify(name)
    const twin = `${spelled}:${second === 'the same' ? write(own) : JSON.stringify(second)}`
    return `{${(isFirst ? [twin, ...members] : [...members, twin]).join(',')}}`
  }
  return write(value)
}
