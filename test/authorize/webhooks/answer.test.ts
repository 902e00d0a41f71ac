import { describe, expect, it } from 'vitest'
import { readAnswer } from '#src/authorize/webhooks/answer.ts'

describe('an answer', () => {
  const long = 'é'.repeat(200)
  it.each([
    ['{"decision":"allow"}', { decision: 'allow' }],
    [
      '{"decision":"deny","reason":"over the budget of the team"}',
      { decision: 'deny', reason: 'over the budget of the team' },
    ],
    ['{"decision":"allow","reason":""}', { decision: 'allow' }],
    [`{"decision":"deny","reason":"${long}"}`, { decision: 'deny', reason: long }],
    [' \n{"trace":{"id":[1]},"decision":"deny"}\n', { decision: 'deny' }],
  ])('is taken: %s', (text, answer) => {
    expect(read(text)).toEqual({ answer })
  })

  it.each([
    '',
    'allow',
    'true',
    '[]',
    'null',
    '{}',
    '{"decision":true}',
    '{"decision":"ALLOW"}',
    '{"decision":"allow "}',
    '{"decision":["allow"]}',
    '{"decision":"deny","decision":"allow"}',
    '{"decision":"deny","\\u0064ecision":"allow"}',
    '{"__proto__":{"decision":"allow"}}',
    '{"decision":"allow","reason":null}',
    '{"decision":"allow","reason":7}',
    '{"decision":"allow","reason":"\\u0000"}',
    '{"decision":"allow","reason":"\\ud800"}',
    '{"decision":"allow","reason":"a\\u202eb"}',
    `{"decision":"allow","reason":"${'a'.repeat(201)}"}`,
    '{"decision":"allow"}{"decision":"deny"}',
    '{"decision":"allow",}',
    '\ufeff{"decision":"allow"}',
    `{"decision":"allow","x":${'['.repeat(20)}${']'.repeat(20)}}`,
    `)]}',{"decision":"allow"}`,
    '<html>{"decision":"allow"}</html>',
  ])('that is not exact is none: %s', (text) => {
    expect(read(text)).toMatchObject({ cause: 'malformed' })
  })

  it('with bytes that are not UTF-8 is none', () => {
    const text = [Buffer.from('{"decision":"allow","reason":"'), Buffer.of(0xff), Buffer.from('"}')]
    expect(read(Buffer.concat(text))).toMatchObject({ cause: 'malformed' })
  })

  it('that was cut off at its limit is none, although what arrived is an answer', () => {
    expect(read('{"decision":"allow"}', { isTruncated: true })).toMatchObject({ cause: 'response_too_large' })
  })

  it('is read in time that grows with its size', () => {
    const deep = `{"decision":"allow","x":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`
    expect(read(deep)).toMatchObject({ cause: 'malformed' })
    expect(read(`{"decision":"allow","reason":"${'\\u0041'.repeat(10_000)}"}`)).toMatchObject({ cause: 'malformed' })
  })
})

function read(body: string | Buffer, { isTruncated = false } = {}) {
  return readAnswer({
    ok: true,
    status: 200,
    headers: new Map(),
    body: Buffer.from(body),
    isTruncated,
    durationMs: 1,
    timing: { dnsMs: null, connectMs: 1, tlsMs: 1, firstByteMs: 1 },
    address: '203.0.113.7',
  })
}
