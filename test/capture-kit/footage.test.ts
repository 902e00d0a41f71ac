import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createWalker } from '#src/attest/video/container.ts'
import { examineVideo } from '#src/attest/video/examine.ts'
import { VIDEO_KINDS, type VideoKind } from '../../capture-kit/findings.ts'
import { type FleetPlan, planFleet } from '../../capture-kit/fleet.ts'
import { createCrew } from '../../capture-kit/fleet-captures.ts'
import { film, planVideos } from '../../capture-kit/footage.ts'

const NOW = new Date('2026-11-20T15:11:00.000Z')
const plan = planFleet({ seed: 5, claims: 60, now: NOW, hasHardware: true })
const session = { capture_session_id: 'cap_1', session_nonce: Buffer.alloc(32, 7).toString('base64url') }
const crew = await createCrew({ plan: { ...plan, devices: plan.devices.slice(0, 1) }, now: () => NOW })

const filmed = (kind: VideoKind) => {
  const video = planVideos(plan).find((one) => one.kind === kind)
  const device = crew.devices[video?.device ?? -1]
  if (video === undefined || device === undefined) throw new Error(`the plan has no ${kind}`)
  const { body, chunks } = film(video, device, { deviceId: 'dev_1', session })
  const received = chunks.map(({ index, data }) => ({
    index,
    bytes: data.length,
    sha256: createHash('sha256').update(data).digest('hex'),
    arrivedAtMs: NOW.getTime(),
  }))
  const bytes = received.reduce((sum, one) => sum + one.bytes, 0)
  const walker = createWalker('video/mp4')
  for (const { data } of chunks) walker.push(data)
  const facts = examineVideo({
    ...walker.end(),
    manifest: body.bundle?.video_manifest ?? null,
    received: { source: 'stream', bytes, chunks: received, looseBytes: 0, streamNonce: session.session_nonce },
    nonce: body.bundle?.session_nonce ?? null,
  })
  return { body, chunks, facts }
}

test.each([
  ['video', null, null],
  ['dropped_chunk', 2, null],
  ['edited_chunk', null, 2],
] as const)('%s: the chunks have exactly the defects of their kind', (kind, missing, edited) => {
  const { body, chunks, facts } = filmed(kind)
  expect(body).toMatchObject({ media_type: 'video', media: { capture_session_id: 'cap_1' } })
  expect(facts.chain).toMatchObject({ seed: 'nonce', verifiedLinks: 5, link: null, lastLink: null, duplicate: null })
  expect(facts.received.missing?.index ?? null).toBe(missing)
  expect(facts.chain?.digest?.index ?? null).toBe(edited)
  const whole = createHash('sha256').update(Buffer.concat(chunks.map(({ data }) => data)))
  expect(body.bundle?.sensor_hash === whole.digest('hex')).toBe(kind === 'video')
})

test('the plan states the expected factors, with and without hardware evidence', () => {
  const scores = (given: FleetPlan) => planVideos(given).map(({ expected }) => expected.riskScore)
  expect(planVideos(plan).map(({ kind }) => kind)).toEqual([...VIDEO_KINDS])
  expect(scores(plan)).toEqual([0, 90, 100])
  expect(scores(planFleet({ seed: 5, claims: 60, now: NOW }))).toEqual([40, 130, 140])
})
