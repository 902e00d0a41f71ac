import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { endpoint } from '#src/platform/http/endpoint.ts'
import { createRateJudge, DEFAULT_MINIMUM_RATE, type Kept } from '#src/platform/http/minimum-rate.ts'
import { makeKeyRow, startApp, type TestApp } from '../../support/http.ts'
import { trickle } from './bodies.ts'

const KIB = 1024
const PHOTO_BYTES = 4_700_000
const LARGEST_BYTES = 20 * KIB * KIB

/** How many windows a body is read, and how many of its bytes it held then. */
function send(kept: Kept, bytes: number, inWindow: (window: number) => number, announcedBytes = bytes) {
  const judge = createRateJudge(DEFAULT_MINIMUM_RATE, { kept, announcedBytes })
  let received = 0
  for (let window = 0; window < 10_000; window += 1) {
    const came = inWindow(window)
    received += came
    if (received >= bytes) return { isRead: true, windows: window + 1 }
    const failure = judge({ inWindow: came, received })
    if (failure !== undefined) return { isRead: false, windows: window + 1, code: failure.code, received }
  }
  throw new Error('it never ends')
}
const perWindow = (bitsPerSecond: number) => Math.ceil((bitsPerSecond / 8) * (DEFAULT_MINIMUM_RATE.windowMs / 1_000))

describe('a JSON body', () => {
  it('of a photo inline may come with 130 kbit/s', () => {
    expect(send('json', PHOTO_BYTES, () => perWindow(130_000))).toMatchObject({ isRead: true })
  })

  it('may come unevenly, as from a phone in a train', () => {
    const inWindow = (window: number) => (window % 3 === 2 ? 12 * KIB : perWindow(250_000))
    expect(send('json', PHOTO_BYTES, inWindow)).toMatchObject({ isRead: true })
  })

  it.each([
    ['that announces its length', LARGEST_BYTES],
    ['in chunks', 0],
  ])('of the largest size %s is refused where the rest comes in drops', (_, announced) => {
    const sent = send(
      'json',
      LARGEST_BYTES,
      (window) => (window === 0 ? LARGEST_BYTES - KIB * KIB : 20 * KIB),
      announced,
    )
    expect(sent).toMatchObject({ isRead: false, code: 'request_timeout' })
    expect(sent.windows).toBeLessThanOrEqual(5)
  })

  it('of any size arrives within the windows for it and one more, or is refused', () => {
    for (let bitsPerSecond = 8_000; bitsPerSecond < 1_000_000; bitsPerSecond += 4_000) {
      const { windows } = send('json', LARGEST_BYTES, () => perWindow(bitsPerSecond))
      expect(windows).toBeLessThanOrEqual(DEFAULT_MINIMUM_RATE.jsonWindows + 1)
    }
  })

  it('of a few kilobytes in a window has as long as it takes', () => {
    expect(send('json', 100 * KIB, () => 10 * KIB)).toEqual({ isRead: true, windows: 10 })
    expect(send('json', 100 * KIB, () => 10 * KIB - 1)).toMatchObject({ isRead: false, windows: 1 })
  })
})

describe('other bodies', () => {
  it('have an hour for lines that are kept', () => {
    const bytes = 256 * KIB * KIB
    expect(send('lines', bytes, () => Math.ceil(bytes / 359))).toMatchObject({ isRead: true })
    expect(send('lines', bytes, () => Math.ceil(bytes / 720))).toMatchObject({ isRead: false })
  })

  it('have as long as it takes where nothing of them is kept', () => {
    expect(send('nothing', LARGEST_BYTES, () => 10 * KIB)).toEqual({ isRead: true, windows: 2_048 })
  })
})

describe('over HTTP', () => {
  let app: TestApp
  beforeAll(async () => {
    const notes = endpoint(
      {
        method: 'POST',
        path: '/v1/notes',
        sdk: { none: 'a route of a test' },
        effect: 'write',
        kind: 'call',
        summary: 'Write',
        operationId: 'test',
        scope: 'attest',
        body: z.strictObject({ text: z.string() }),
        view: z.object({}),
        status: [200],
      },
      async () => ({}),
    )
    const key = makeKeyRow({ scopes: ['attest'] })
    const pace = { windowMs: 300, minBytes: 64, jsonWindows: 4, linesWindows: 4 }
    app = await startApp([notes], { findKey: async () => key, pace })
  })
  afterAll(() => app.close())

  it.each([
    ['of a length', 'Content-Length: 1000000', (text: string) => text],
    ['in chunks', 'Transfer-Encoding: chunked', (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`],
  ])('a large body %s whose end comes in drops is answered 408', async (_name, framing, frame) => {
    const first = frame(`{"text":"${'a'.repeat(800_000)}`)
    // Far above what every body must bring.
    const text = await trickle(app.port, { framing, first, drop: frame('a'.repeat(100)) })
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(text).toContain('"code":"request_timeout"')
  })
})
