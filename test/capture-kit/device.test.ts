import { createHash, verify, X509Certificate } from 'node:crypto'
import canonicalize from 'canonicalize'
import { expect, test } from 'vitest'
import { createAuthority } from '../../capture-kit/authority.ts'
import { type Bundle, createDevice, inlineMedia, openDevice } from '../../capture-kit/device.ts'

const NOW = new Date('2026-11-20T15:11:00.000Z')
const now = () => NOW
const PHOTO = Buffer.from('not a picture, and the device does not mind')

const makeDevice = async () =>
  createDevice({ authority: await createAuthority({ name: 'Test', now }), name: 'Phone', now })

const isSigned = (chain: readonly string[], bundle: Bundle, value: string): boolean => {
  const key = new X509Certificate(Buffer.from(chain[0] ?? '', 'base64')).publicKey
  const data = Buffer.from(canonicalize(bundle) ?? '', 'utf8')
  return verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(value, 'base64url'))
}

test('a device signs the canonical bundle with the key of its certificate', async () => {
  const device = await makeDevice()
  const body = device.capture({
    photo: PHOTO,
    capturedAt: NOW,
    media: { media_id: 'med_1' },
    gps: { lat: 48.8583701, lng: -2.2944813, accuracy_m: 4.5, mock: false },
    biometric: { gated: true, method: 'face' },
    deviceId: 'dev_1',
    sessionNonce: 'nonce',
    claim: { reference: 'CLM-1' },
    externalId: 'one',
  })
  const { bundle, certificate_chain: chain = [], signature } = body

  expect(bundle).toEqual({
    version: 1,
    captured_at: '2026-11-20T15:11:00.000Z',
    sensor_hash: createHash('sha256').update(PHOTO).digest('hex'),
    gps: { lat: 48.8583701, lng: -2.2944813, accuracy_m: 4.5, mock: false },
    biometric: { gated: true, method: 'face' },
    device_id: 'dev_1',
    session_nonce: 'nonce',
  })
  expect(body).toMatchObject({ external_id: 'one', claim: { reference: 'CLM-1' }, media: { media_id: 'med_1' } })
  expect(Buffer.from(signature?.value ?? '', 'base64url')).toHaveLength(64)
  expect(bundle && isSigned(chain, bundle, signature?.value ?? '')).toBe(true)
  // The order of members is not part of what is signed; their values are.
  const reordered = JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(bundle ?? {}).reverse())))
  expect(isSigned(chain, reordered, signature?.value ?? '')).toBe(true)
  expect(isSigned(chain, { ...reordered, captured_at: '2026-11-20T15:11:00.001Z' }, signature?.value ?? '')).toBe(false)
})

test('a device omits unknown members, so that the body survives JSON unchanged', async () => {
  const device = await makeDevice()
  const body = device.capture({
    photo: PHOTO,
    capturedAt: NOW,
    media: inlineMedia(PHOTO, 'image/jpeg'),
    gps: undefined,
  })
  expect(Object.keys(body.bundle ?? {})).toEqual(['version', 'captured_at', 'sensor_hash'])
  expect(JSON.parse(JSON.stringify(body))).toEqual(body)
  expect(body.media).toEqual({ content_type: 'image/jpeg', data: PHOTO.toString('base64') })
})

test('a device is the same after export and import', async () => {
  const device = await makeDevice()
  const again = openDevice(JSON.parse(JSON.stringify(device.export())))
  const { bundle, signature } = again.capture({ photo: PHOTO, capturedAt: NOW, media: { media_id: 'med_1' } })
  const chain = device.chain.map((der) => der.toString('base64'))
  expect(again.publicKey.equals(device.publicKey)).toBe(true)
  expect(bundle && isSigned(chain, bundle, signature?.value ?? '')).toBe(true)
})

test('a device has a chain that is valid now and for captures of the last weeks', async () => {
  const { chain } = await makeDevice()
  expect(chain).toHaveLength(2)
  for (const certificate of chain.map((der) => new X509Certificate(der))) {
    expect(certificate.validFromDate.getTime()).toBeLessThanOrEqual(NOW.getTime() - 30 * 86_400_000)
    expect(certificate.validToDate.getTime()).toBeGreaterThan(NOW.getTime() + 365 * 86_400_000)
  }
})
