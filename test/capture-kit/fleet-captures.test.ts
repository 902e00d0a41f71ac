import { createHash, verify, X509Certificate } from 'node:crypto'
import canonicalize from 'canonicalize'
import sharp from 'sharp'
import { beforeAll, expect, test } from 'vitest'
import type { AttestBody } from '../../capture-kit/device.ts'
import { type CaptureKind, TAMPERINGS } from '../../capture-kit/findings.ts'
import { type PlannedCapture, planFleet } from '../../capture-kit/fleet.ts'
import { type Crew, createCrew, type Links } from '../../capture-kit/fleet-captures.ts'
import { readCameraFacts, renderPhoto } from '../../capture-kit/photo.ts'

const NOW = new Date('2026-11-20T15:11:00.000Z')
const plan = planFleet({ seed: 5, claims: 60, now: NOW })
const links: Links = {
  media: { media_id: 'med_1' },
  deviceIds: plan.devices.map(({ standing }, index) =>
    /^(?:enrolled|revoked)$/.test(standing) ? `dev_${index}` : undefined,
  ),
  nonces: Array.from({ length: plan.sessions }, (_, index) => `nonce_${index}`),
}

let crew: Crew
let scenes: [Buffer, Buffer]

beforeAll(async () => {
  crew = await createCrew({ plan, now: () => NOW })
  const render = (seed: number) => renderPhoto({ seed, width: 64, height: 48, exif: null })
  scenes = [await render(1), await render(2)]
})

const find = (kind: CaptureKind): PlannedCapture => {
  const capture = plan.captures.find((each) => each.kind === kind)
  if (capture === undefined) throw new Error(`the plan has no ${kind}`)
  return capture
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

const isSigned = ({ bundle, certificate_chain: chain, signature }: AttestBody): boolean =>
  verify(
    'sha256',
    Buffer.from(canonicalize(bundle) ?? '', 'utf8'),
    { key: new X509Certificate(Buffer.from(chain?.[0] ?? '', 'base64')).publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature?.value ?? '', 'base64url'),
  )

const isKnown = ({ certificate_chain: chain }: AttestBody): boolean =>
  new X509Certificate(Buffer.from(chain?.[1] ?? '', 'base64')).verify(
    new X509Certificate(crew.authority.rootDer).publicKey,
  )

test.each<CaptureKind>(['honest', ...TAMPERINGS])('%s: exactly what the kind says is wrong with the body', (kind) => {
  const capture = find(kind)
  const shot = crew.shoot(capture, scenes)
  const body = crew.compose(capture, shot, links)

  expect(body).toMatchObject({ external_id: capture.externalId, claim: capture.claim, media: links.media })
  if (kind === 'no_manifest') {
    expect(Object.keys(body).sort()).toEqual(['claim', 'external_id', 'media', 'media_type'])
    return
  }
  expect(body.bundle?.sensor_hash === sha256(shot.photo)).toBe(kind !== 'wrong_hash')
  expect(isSigned(body)).toBe(kind !== 'wrong_signer')
  expect(isKnown(body)).toBe(kind !== 'unknown_ca')
  expect(body.bundle?.device_id === undefined).toBe(kind === 'unknown_ca' || kind === 'not_enrolled')
  expect(body.bundle?.gps).toEqual(capture.gps)
  expect(body.bundle?.biometric).toEqual(capture.biometric)
  expect(body.bundle?.captured_at).toBe(capture.capturedAt.toISOString())
  expect(body.bundle?.session_nonce).toBe(capture.session === undefined ? undefined : `nonce_${capture.session}`)
})

test('the crew makes photos that differ from each other, with EXIF that agrees with the bundle', async () => {
  const withExif = plan.captures.filter(({ exif }) => exif !== null)
  const digests = new Set(withExif.map((capture) => sha256(crew.shoot(capture, scenes).photo)))
  expect(digests.size).toBe(withExif.length)

  for (const capture of withExif.slice(0, 20)) {
    const { photo } = crew.shoot(capture, scenes)
    const facts = await readCameraFacts(photo)
    expect((await sharp(photo).metadata()).width).toBe(64)
    if (capture.kind !== 'exif_time' && facts.zone !== 'machine') expect(facts.capturedAt).toEqual(capture.capturedAt)
    if (capture.gps === undefined) expect(facts.gps).toBeUndefined()
    else expect(facts.gps?.lat).toBeCloseTo(capture.gps.lat, 6)
  }
})

test('the crew replaces the photo also where there is one scene only', () => {
  const shot = crew.shoot(find('wrong_hash'), [scenes[0]])
  expect(shot.photo.equals(shot.original)).toBe(false)
})

test('the crew refuses to compose a replay for which no session was opened', () => {
  const capture = find('replayed_nonce')
  expect(() => crew.compose(capture, crew.shoot(capture, scenes), { ...links, nonces: [] })).toThrow(RangeError)
})
