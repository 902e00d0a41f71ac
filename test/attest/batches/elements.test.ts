import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readElements } from '#src/platform/http/json-array.ts'

const LIMITS = { maxLines: 100, maxLineBytes: 1_000, maxBytes: 10_000 }

async function elementsOf(text: string, chunkBytes: number, limits = LIMITS): Promise<(string | undefined)[]> {
  const bytes = Buffer.from(text)
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, n) =>
    bytes.subarray(n * chunkBytes, (n + 1) * chunkBytes),
  )
  const found: (string | undefined)[] = []
  for await (const { line, bytes: element } of readElements(Readable.from(chunks), limits)) {
    expect(line).toBe(found.length + 1)
    found.push(element?.toString('utf8'))
  }
  return found
}

test('the parser finds the elements of any array, wherever its bytes are split', async () => {
  const property = fc.asyncProperty(
    fc.array(fc.jsonValue(), { maxLength: 8 }),
    fc.constantFrom(undefined, 2, '\t'),
    fc.integer({ min: 1, max: 40 }),
    async (values, indent, chunkBytes) => {
      const limits = { maxLines: 100, maxLineBytes: 1e6, maxBytes: 1e6 }
      const elements = await elementsOf(JSON.stringify(values, null, indent), chunkBytes, limits)
      expect(elements.map((element) => JSON.parse(element ?? ''))).toEqual(JSON.parse(JSON.stringify(values)))
    },
  )
  await fc.assert(property, { numRuns: 200 })
})

test.each([
  ['[ ]', []],
  ['[1,]', ['1', '']],
  ['[,]', ['', '']],
  [' \n[1\n,\t2 ] \r\n', ['1\n', '\t2 ']],
  ['["],[\\"",{"a":[1,2]}]', ['"],[\\""', '{"a":[1,2]}']],
  ['[{"a"},}},{"b":[}]]', ['{"a"}', '}}', '{"b":[}]']],
  ['[nope,"\\u12"]', ['nope', '"\\u12"']],
])('the parser returns the elements of %j unchanged, valid or not', async (text, elements) => {
  for (const chunkBytes of [1, 2, 3, 100]) expect(await elementsOf(text, chunkBytes)).toEqual(elements)
})

test('the parser counts an element that is too long, and keeps none of it', async () => {
  const long = `"${'x'.repeat(1_000)}"`
  for (const chunkBytes of [7, 10_000])
    expect(await elementsOf(`[1,${long},2]`, chunkBytes)).toEqual(['1', undefined, '2'])
})

test.each([
  ['', 'invalid_json'],
  ['  ', 'invalid_json'],
  ['{}', 'invalid_json'],
  ['[', 'invalid_json'],
  ['[1', 'invalid_json'],
  ['[{"a":"]', 'invalid_json'],
  ['[1]]', 'invalid_json'],
  ['[1] [2]', 'invalid_json'],
  ['\ufeff[1]', 'invalid_json'],
  [`[${'1,'.repeat(100)}1]`, 'payload_too_large'],
  [`[${' '.repeat(10_000)}]`, 'payload_too_large'],
])('the parser refuses %j', async (text, code) => {
  for (const chunkBytes of [1, 50_000]) await expect(elementsOf(text, chunkBytes)).rejects.toMatchObject({ code })
})

test('other work gets turns of the event loop while a long array is read that has arrived whole', async () => {
  const text = `[${Array(400_000).fill('"AAAA"').join(',')}]`
  let turns = 0
  let isRead = false
  const count = () => {
    turns += 1
    if (!isRead) setImmediate(count)
  }
  setImmediate(count)
  const limits = { maxLines: 1e6, maxLineBytes: 1_000, maxBytes: 1e7 }
  for await (const { bytes } of readElements(Readable.from([Buffer.from(text)]), limits)) if (bytes === undefined) break
  isRead = true
  expect(turns).toBeGreaterThan(10)
})
