import { expect, test } from 'vitest'
import { judgeLine, MAX_LINE_BYTES } from '#src/attest/batches/lines.ts'
import { createReport } from '#src/platform/http/bulk.ts'
import { newId } from '#src/platform/ids.ts'

const now = Date.UTC(2026, 10, 20)
const mediaId = newId('med', 'sandbox')

function judge(line: unknown) {
  const text = typeof line === 'string' ? line : JSON.stringify(line)
  return judgeLine(Buffer.from(text), 'sandbox', now)
}

test('a valid line is returned as it was sent', () => {
  const body = {
    external_id: 'a',
    media_type: 'image',
    media: { media_id: mediaId },
    claim: { loss_at: '2026-11-19T01:02:03+23:59' },
  }
  expect(judge(body)).toEqual({ body })
})

test('a capture from the future is refused by the clock that was passed in', () => {
  const line = (captured_at: string) => ({
    media_type: 'image',
    media: { media_id: mediaId },
    bundle: { version: 1, captured_at, sensor_hash: 'a'.repeat(64) },
    signature: { alg: 'ES256', value: 'AAAA' },
  })
  expect(judge(line('2026-11-20T00:04:59Z'))).toHaveProperty('body')
  expect(judge(line('2026-11-20T00:05:01Z'))).toMatchObject({
    errors: [{ pointer: '/bundle/captured_at', code: 'in_future' }],
  })
})

test('judging a line never takes long, whatever it contains', () => {
  const hostile = [
    `[${'1,'.repeat(32_000)}1]`,
    `{"media_type":"image","certificate_chain":[${'1,'.repeat(490)}1]}`,
    '['.repeat(MAX_LINE_BYTES),
    `{"a":"${'\\u0041'.repeat(10_000)}"}`,
    `{"a":1${'0'.repeat(60_000)}}`,
    `"${'A'.repeat(60_000)}`,
    JSON.stringify({
      media_type: 'image',
      media: { media_id: mediaId },
      claim: { loss_at: `2026-01-01T00:00:00.${'1'.repeat(60_000)}` },
    }),
  ]
  for (const line of hostile) {
    expect(judge(line)).toHaveProperty('errors')
  }
})

test('a report counts every line, and gives details of the first ones only', () => {
  const report = createReport()
  const findings = Array.from({ length: 100 }, (_, n) => ({
    pointer: `/${'p'.repeat(400)}${n}`,
    code: 'unknown_field' as const,
    detail: 'is not known here',
  }))
  for (let line = 10_000; line >= 1; line -= 1) report.add(line, findings)
  const rejections = report.rejections()
  expect(rejections.map(({ line }) => line)).toEqual(Array.from({ length: 10_000 }, (_, n) => n + 1))
  expect(rejections.every(({ errors }) => errors.length >= 1 && errors.length <= 10)).toBe(true)
  expect(rejections.every(({ errors }) => errors[0]?.code === 'unknown_field')).toBe(true)
  expect(JSON.stringify(rejections).length).toBeLessThan(4 * 1024 * 1024)
})

test('a copied report grows without changing the original', () => {
  const report = createReport()
  report.add(1, [{ pointer: '', code: 'required', detail: 'a' }])
  const copy = report.copy()
  copy.add(2, [{ pointer: '', code: 'required', detail: 'b' }])
  expect([report.rejections().length, copy.rejections().length]).toEqual([1, 2])
})
