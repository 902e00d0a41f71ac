// How many values a body may have: counted outside of its strings, however it arrives.

import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Failure } from '#src/failure.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { createFairBudget } from '#src/platform/fair-budget.ts'
import { readJson } from '#src/platform/http/body.ts'
import { createLongStrings } from '#src/platform/http/long-strings.ts'
import { DEFAULT_MINIMUM_RATE } from '#src/platform/http/minimum-rate.ts'

const SEED = 20_261_126

// Answers the parsed body, or the codes of its refusal. The path says how many values it may have.
const server = createServer(async (req, res) => {
  const [, maxValues, takesLong] = (req.url ?? '').split('/')
  try {
    const { value } = await readJson(req, res, {
      maxBytes: 1e6,
      pace: DEFAULT_MINIMUM_RATE,
      hold: createFairBudget(1e9).open('account'),
      maxValues: Number(maxValues),
      longStrings: takesLong === 'long' ? createLongStrings() : undefined,
    })
    res.end(JSON.stringify({ value }))
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    res.end(JSON.stringify({ refused: error.errors?.map(({ pointer, code }) => ({ pointer, code })) }))
  }
})
beforeAll(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)))
afterAll(() => server.close())

/** Sends the body cut at these offsets, each piece in a turn of its own. */
async function send(path: string, text: string, cuts: readonly number[] = []): Promise<unknown> {
  const bytes = Buffer.from(text)
  const { port } = server.address() as AddressInfo
  const sent = request({ port, host: '127.0.0.1', method: 'POST', path, headers: { 'Transfer-Encoding': 'chunked' } })
  const answered = new Promise<unknown>((resolve, reject) => {
    sent.on('error', reject).on('response', async (answer) => {
      let all = ''
      for await (const part of answer.setEncoding('utf8')) all += part
      resolve(JSON.parse(all))
    })
  })
  sent.setNoDelay()
  const borders = [0, ...cuts.map((cut) => cut % bytes.length).sort((one, other) => one - other), bytes.length]
  for (const [index, from] of borders.entries()) {
    const piece = bytes.subarray(from, borders[index + 1])
    if (piece.length > 0) sent.write(piece)
    await turn()
  }
  sent.end()
  return answered
}

function valuesOf(json: Json): number {
  if (json === null || typeof json !== 'object') return 1
  return Math.max(
    1,
    Object.values(json).reduce<number>((sum, one) => sum + valuesOf(one), 0),
  )
}
const tooMany = { refused: [{ pointer: '', code: 'too_many_values' }] }

describe('the values of a body', () => {
  it('are as many as those that JSON.parse finds, whatever its texts contain and wherever it is cut', async () => {
    const text = fc
      .array(fc.constantFrom(',', '"', '\\', '{', '[', ':', '\n', 'é', '😀', 'x'), { maxLength: 12 })
      .map((characters) => characters.join(''))
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(text, text, fc.integer(), fc.boolean(), fc.constant(null)),
        fc.array(tie('value'), { maxLength: 6 }),
        fc.dictionary(text, tie('value'), { maxKeys: 6 }),
      ),
    }))
    // Long enough to be read in slices, where it is there.
    const padding = fc.constantFrom('', ',"\\'.repeat(30_000))
    const space = fc.constantFrom('', ' ', '\n\t')
    const cuts = fc.array(fc.nat(), { maxLength: 6 })
    const way = fc.constantFrom('', 'long')
    await fc.assert(
      fc.asyncProperty(fc.tuple(value, padding, value), space, cuts, way, async (json, indent, at, path) => {
        const body = JSON.stringify(json, null, indent).replaceAll('é', '\\u00e9')
        const values = valuesOf(json)
        const accepted = await send(`/${values}/${path}`, body, at)
        if (path !== 'long') expect(accepted).toEqual({ value: json })
        expect(accepted).toHaveProperty('value')
        expect(await send(`/${values - 1}/${path}`, body, at)).toEqual(tooMany)
      }),
      { seed: SEED, numRuns: 150 },
    )
  })

  it('are refused before a wrong one behind them is read, in a body of any size', async () => {
    for (const more of [3, 100_000]) expect(await send('/3', `[1,2,3,${'1,'.repeat(more)}nonsense]`)).toEqual(tooMany)
  })
})
