// Every error in the body of a submission is reported with its field.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callRaw } from '../../support/http.ts'
import { attestFixture, makeMedia, type Phone, shoot } from './phone.ts'
import { type Body, expectRefusal, pngOf, replaceAt } from './refusal.ts'
import type { Caller, Service } from './service.ts'

let service: Service
let caller: Caller
let phone: Phone
let mediaId: string

beforeAll(async () => {
  ;({ service, caller, phone } = await attestFixture())
  mediaId = await makeMedia(service, caller)
})
afterAll(() => service.close())

const claim = { reference: 'r', line: 'l', loss_at: '2026-01-01T00:00:00Z', loss_location: { lat: 1, lng: 1 } }
const good = () => ({ ...shoot(phone), media: { media_id: mediaId }, external_id: 'x', claim })

describe('malformed JSON is refused', () => {
  const cases: Record<string, [change: (text: string) => string | Uint8Array, pointer: string, code: string]> = {
    truncated: [(text) => text.slice(0, text.indexOf('"version"') + 5), '/bundle', 'malformed'],
    'with a duplicate key': [(text) => text.replace('{', '{"claim":{},'), '/claim', 'duplicate_key'],
    'with one deep inside': [(text) => text.replace('"lat"', '"lng":1,"lat"'), '/bundle/gps/lng', 'duplicate_key'],
    'with one in disguise': [(text) => text.replace('{', '{"cl\\u0061im":{},'), '/claim', 'duplicate_key'],
    'with a lone surrogate': [
      (text) => text.replace('"face"', '"\\ud800"'),
      '/bundle/biometric/method',
      'lone_surrogate',
    ],
    'with one in a key': [(text) => text.replace('"gated"', '"\\udfff"'), '/bundle/biometric', 'lone_surrogate'],
    'with a huge integer': [
      (text) => text.replace(':1,', ':9007199254740993,'),
      '/bundle/version',
      'number_out_of_range',
    ],
    'with more than a double': [(text) => text.replace(':1,', ':1e400,'), '/bundle/version', 'number_out_of_range'],
    'with no number': [(text) => text.replace(':1,', ':NaN,'), '/bundle/version', 'malformed'],
    twice: [(text) => `${text} {}`, '', 'malformed'],
    'that is no UTF-8': [() => Buffer.from('7b22ff223a317d', 'hex'), '', 'invalid_utf8'],
    'without end': [() => '{"claim":'.repeat(5_000), `${'/claim'.repeat(34)}`, 'too_deep'],
  }
  it.each(Object.entries(cases))('%s', async (_name, [change, pointer, finding]) => {
    const body = change(JSON.stringify({ bundle: good().bundle, ...good() }))
    const headers = { 'Content-Type': 'application/json' }
    const ask = () => service.call(caller, '/v1/claims/attest', { body, headers })
    await expectRefusal(service, ask, { status: 400, code: 'invalid_json', pointer, finding })
  })

  it('when it has another content type, or is empty', async () => {
    const post = (body: string, type: string) => () =>
      service.call(caller, '/v1/claims/attest', { method: 'POST', body, headers: { 'Content-Type': type } })
    const text = JSON.stringify(good())
    await expectRefusal(service, post(text, 'text/plain'), { status: 415, code: 'unsupported_media_type' })
    const nothing = { status: 400, code: 'invalid_request', pointer: '', finding: 'required' }
    await expectRefusal(service, post('', 'application/json'), nothing)
    for (const root of ['null', 'true', '1', '"x"', '[]', '[{}]']) {
      const refusal = { status: 400, code: 'invalid_request', pointer: '', finding: 'invalid_type' }
      await expectRefusal(service, post(root, 'application/json'), refusal)
    }
  })

  it('when it has 100 MB: at the first byte, with and without an announced length', async () => {
    const before = await service.fingerprint()
    const head = `POST /v1/claims/attest HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.key}\r\nContent-Type: application/json\r\n`
    const announced = await callRaw(service.app, `${head}Content-Length: 100000000\r\nConnection: close\r\n\r\n{`)
    expect(announced).toMatch(/^HTTP\/1\.1 413 /)
    expect(announced).toContain('"payload_too_large"')

    const size = 1024 * 1024
    const chunk = `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`
    const parts = Array.from({ length: 100 }, () => chunk)
    const endless = await callRaw(service.app, `${head}Transfer-Encoding: chunked\r\n\r\n`, ...parts).catch(() => '')
    // The server may cut the connection while the client still writes.
    if (endless !== '') expect(endless).toMatch(/^HTTP\/1\.1 413 /)
    expect(await service.fingerprint()).toBe(before)
  })
})

describe('an invalid value is refused', () => {
  const long = 'x'.repeat(257)
  const future = new Date(Date.now() + 360_000).toISOString()
  const digits = '1'.repeat(30)
  const cases: [pointer: string, value: unknown, code: string, at?: string][] = [
    ['/media_type', undefined, 'required'],
    ['/media_type', 'audio', 'invalid_value'],
    ['/media_type', 'video', 'wrong_media_type', '/media/media_id'],
    [
      '/media',
      { capture_session_id: 'cap_test_01m7x7eq4zfb6s1m8k0d5w9t2n' },
      'wrong_media_type',
      '/media/capture_session_id',
    ],
    ['/media', undefined, 'required'],
    ['/media', { data: 'QUJD' }, 'required', '/media/content_type'],
    ['/media/data', 'QUJD', 'unknown_field'],
    ['/hardware_tier', 'tee', 'unknown_field'],
    ['/bundle/hardware_tier', 'tee', 'unknown_field'],
    ['/bundle/video_manifest', {}, 'unexpected'],
    ['/bundle/video_manifest', { fps: 30 }, 'unknown_field', '/bundle/video_manifest/fps'],
    ['/bundle/video_manifest', { chunks: [{ bytes: -1 }] }, 'out_of_range', '/bundle/video_manifest/chunks/0/bytes'],
    ['/bundle/video_manifest', { chunks: [{ link: 'ab' }] }, 'invalid_format', '/bundle/video_manifest/chunks/0/link'],
    ['/claim/amount', 1, 'unknown_field'],
    ['/bundle/version', 2, 'invalid_value'],
    ['/bundle/captured_at', undefined, 'required'],
    ['/bundle/captured_at', '2026-11-20T10:00:00', 'invalid_format'],
    ['/bundle/captured_at', '2026-02-30T10:00:00Z', 'invalid_format'],
    ['/bundle/captured_at', future, 'in_future'],
    ['/bundle/sensor_hash', 'ab', 'invalid_format'],
    ['/bundle/sensor_hash', 'g'.repeat(64), 'invalid_format'],
    ['/bundle/gps/lat', 90.1, 'out_of_range'],
    ['/bundle/gps/lng', -180.1, 'out_of_range'],
    ['/bundle/gps/accuracy_m', undefined, 'required'],
    ['/bundle/gps/accuracy_m', -1, 'out_of_range'],
    ['/bundle/biometric/method', 'voice', 'invalid_value'],
    ['/bundle/biometric/gated', undefined, 'required'],
    ['/bundle/device_id', long, 'too_long'],
    ['/bundle/session_nonce', long, 'too_long'],
    ['/bundle/attestation', { format: 'tpm' }, 'invalid_value', '/bundle/attestation/format'],
    ['/external_id', long, 'too_long'],
    ['/external_id', '', 'too_short'],
    ['/claim/reference', '', 'too_short'],
    ['/claim/loss_location/lng', 180.5, 'out_of_range'],
    ['/claim/loss_location/lat', undefined, 'required'],
    ['/claim/loss_at', 'yesterday', 'invalid_format'],
    ['/claim/loss_at', '0000-01-01T00:00:00Z', 'out_of_range'],
    ['/claim/loss_at', '0001-01-01T00:00:00+23:59', 'out_of_range'],
    ['/claim/loss_at', '9999-12-31T23:59:59-01:00', 'out_of_range'],
    ['/claim/loss_at', `2026-01-01T00:00:00.${digits}Z`, 'too_long'],
    ['/signature', undefined, 'required'],
    ['/bundle', undefined, 'required'],
    ['/signature/alg', 'none', 'invalid_value'],
    ['/signature/value', '', 'too_short'],
    ['/signature/value', 'QQ==', 'invalid_format'],
    ['/assertion', '%%', 'invalid_format'],
    ['/certificate_chain', [], 'too_few'],
    ['/certificate_chain', Array.from({ length: 50 }, () => 'QUJD'), 'too_many'],
    ['/certificate_chain/0', '', 'not_a_certificate'],
    ['/certificate_chain/0', 'MII!', 'invalid_format'],
    ['/certificate_chain/0', 'MIIB\nMIIB\n== ', 'invalid_format'],
    ['/certificate_chain/0', pngOf(8, 8).toString('base64'), 'not_a_certificate'],
    ['/certificate_chain/1', Buffer.alloc(16 * 1024 + 1, 0x30).toString('base64'), 'too_large'],
    ['/certificate_chain/1', Buffer.alloc(1e6, 0x30).toString('base64'), 'too_long'],
    ['/assertion', Buffer.alloc(1e6).toString('base64'), 'too_long'],
    [
      '/bundle/attestation',
      { format: 'none', chain: Array.from({ length: 8 }, () => 'A'.repeat(9_000)) },
      'too_large',
      '',
    ],
    ['/claim/reference', 'C\u0000', 'invalid_character'],
    ['/bundle/device_id', 'dev\u0000', 'invalid_character'],
    ['/a\u0000', 1, 'invalid_character', ''],
  ]
  it.each(cases.map((one) => [one[0], JSON.stringify(one[1] ?? null).slice(0, 40), one] as const))(
    'at %s: %s',
    async (_pointer, _value, [pointer, value, finding, at = pointer]) => {
      const body = replaceAt(good(), pointer, value)
      const refusal = { status: 400, code: 'invalid_request', pointer: at, finding }
      await expectRefusal(service, () => service.attest(caller, body), refusal)
    },
  )

  it('when a certificate occurs twice', async () => {
    const [leaf] = good().certificate_chain ?? []
    const body = { ...good(), certificate_chain: [leaf, leaf] }
    const refusal = { status: 400, code: 'invalid_request', pointer: '/certificate_chain/1', finding: 'duplicate' }
    await expectRefusal(service, () => service.attest(caller, body), refusal)
  })

  it('when it is a prototype', async () => {
    const text = JSON.stringify(good()).replace('"version"', '"__proto__":{"x":1},"version"')
    const refusal = { status: 400, code: 'invalid_request', pointer: '/bundle/__proto__', finding: 'unknown_field' }
    await expectRefusal(service, () => service.attest(caller, text), refusal)
  })

  it('for every type of value in every position', async () => {
    const body = good()
    const strangers = [null, true, -1, 1.5, 'text', [], {}, [[]], [{}], { a: 1 }]
    const before = await service.fingerprint()
    let tried = 0
    for (const [pointer, own] of membersOf(body)) {
      for (const stranger of strangers) {
        if (kindOf(stranger) === own || (stranger === null && NULLABLE.has(pointer))) continue
        const { status, json, text } = await service.attest(caller, replaceAt(body, pointer, stranger))
        expect(status, `${pointer} ${JSON.stringify(stranger)} ${text}`).toBe(400)
        expect(json.errors?.map((error) => error.pointer.startsWith(pointer))).toContain(true)
        tried += 1
      }
    }
    expect(tried).toBeGreaterThan(200)
    expect(await service.fingerprint()).toBe(before)
  })

  it('together with all others', async () => {
    const body: Body = { ...good(), media_type: 'audio', extra: 1, claim: { reference: '' } }
    const wrong = replaceAt(replaceAt(body, '/bundle/version', 3), '/bundle/video_manifest', { fps: 30 })
    const { json } = await service.attest(caller, wrong)
    expect(json.errors?.map(({ pointer, code }) => `${pointer} ${code}`).sort()).toEqual([
      '/bundle/version invalid_value',
      '/bundle/video_manifest/fps unknown_field',
      '/claim/reference too_short',
      '/extra unknown_field',
      '/media_type invalid_value',
    ])
  })
})

describe('at the limit of what is refused, is accepted', () => {
  const cases: [pointer: string, value: unknown][] = [
    ['/bundle/captured_at', new Date(Date.now() + 290_000).toISOString()],
    ['/bundle/captured_at', '2026-11-20T10:00:00.123456789012+14:00'],
    ['/bundle/captured_at', '0001-01-01T00:00:00Z'],
    ['/bundle/gps', null],
    ['/bundle/gps', { lat: -90, lng: 180, accuracy_m: 0 }],
    ['/bundle/gps', { lat: 5e-324, lng: -0, accuracy_m: 1e7 }],
    ['/bundle/device_id', 'a name of its own'],
    ['/bundle/session_nonce', 'ÿ'.repeat(256)],
    ['/claim/loss_at', '0001-01-01T00:00:00Z'],
    ['/claim/loss_at', '9999-12-31T23:59:59.999Z'],
    ['/claim/loss_at', '2026-01-01T00:00:00+23:59'],
    ['/claim/reference', '𝄞'.repeat(127)],
    ['/claim/line', "'; DROP TABLE claims; --"],
  ]
  it.each(cases)('%s: %j', async (pointer, value) => {
    const body = { ...replaceAt(good(), pointer, value), external_id: undefined }
    const { status, json, text } = await service.attest(caller, body)
    expect(status, text).toBe(202)
    // Accepted values can be read back, alone and in the list.
    const seen = await service.call(caller, `/v1/claims/${json.claim_id}`)
    expect(seen.status, seen.text).toBe(200)
    expect((await service.call(caller, '/v1/claims')).status).toBe(200)
    await service.run(String(json.attestation_id))
    expect((await service.call(caller, `/v1/attestations/${json.attestation_id}`)).json.status).toBe('succeeded')
  })
})

// Facts that a phone may state as absent.
const NULLABLE = new Set(['/bundle/gps', '/bundle/biometric'])

function membersOf(node: unknown, pointer = ''): [pointer: string, kind: string][] {
  const own: [string, string][] = pointer === '' ? [] : [[pointer, kindOf(node)]]
  if (typeof node !== 'object' || node === null) return own
  return [...own, ...Object.entries(node).flatMap(([key, value]) => membersOf(value, `${pointer}/${key}`))]
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
