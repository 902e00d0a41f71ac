import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readLines } from '#src/platform/http/ndjson.ts'

const LIMITS = { maxLines: 10, maxLineBytes: 8 }

describe('the line reader', () => {
  it.each([
    [
      'of one chunk',
      ['a\nb\n'],
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [
      'without a last line end',
      ['a\nb'],
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [
      'over many chunks',
      ['a', 'b', '\n', 'c\nd', 'e'],
      [
        [1, 'ab'],
        [2, 'c'],
        [3, 'de'],
      ],
    ],
    [
      'with carriage returns',
      ['a\r', '\nb\r\n'],
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [
      'numbered over empty ones',
      ['\n\r\n a\n \t\nb\n\n'],
      [
        [3, ' a'],
        [5, 'b'],
      ],
    ],
    ['of nothing', [], []],
    ['of the largest size', ['12345678\n'], [[1, '12345678']]],
    [
      'that are too long, between others',
      ['a\n123456789\nb'],
      [
        [1, 'a'],
        [2, undefined],
        [3, 'b'],
      ],
    ],
    [
      'that are too long over chunks',
      ['1234', '5678', '9', '0\nb'],
      [
        [1, undefined],
        [2, 'b'],
      ],
    ],
    [
      'that are too long at the end',
      ['a\n12345', '67890'],
      [
        [1, 'a'],
        [2, undefined],
      ],
    ],
  ])('%s', async (_name, chunks, expected) => {
    expect(await collect(chunks)).toEqual(expected)
  })

  it('refuses more lines than allowed', async () => {
    await expect(collect(['x\n'.repeat(11)])).rejects.toMatchObject({ code: 'payload_too_large' })
    expect(await collect(['x\n\n'.repeat(10)])).toHaveLength(10)
  })

  it('fails with the error of the stream', async () => {
    const stream = Readable.from(
      (async function* () {
        yield Buffer.from('a\n')
        throw new Error('gone')
      })(),
      { objectMode: false },
    )
    const seen: number[] = []
    const reading = (async () => {
      for await (const { line } of readLines(stream, LIMITS)) seen.push(line)
    })()
    await expect(reading).rejects.toThrow('gone')
    expect(seen).toEqual([1])
  })
})

async function collect(chunks: string[]): Promise<[number, string | undefined][]> {
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
  const lines: [number, string | undefined][] = []
  for await (const { line, bytes } of readLines(stream, LIMITS)) lines.push([line, bytes?.toString()])
  return lines
}
