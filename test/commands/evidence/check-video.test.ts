// A packet contains the data behind a video's findings: each is confirmed or refuted, whatever the signed result says.

import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PacketAttestation, SignedPacket } from '#src/attest/evidence/views.ts'
import type { VideoManifest } from '#src/attest/video/facts.ts'
import { inlineMedia } from '../../../capture-kit/device.ts'
import { joinChunks, makeVideoManifest, recordVideo, type VideoChunk } from '../../../capture-kit/video.ts'
import { type CheckReport, checkFile } from '../../../commands/evidence/check.ts'
import { flipped } from '../../attest/claims/recording.ts'
import { type EvidenceService, startEvidence } from '../../attest/evidence/service.ts'

const RECORDING = recordVideo({ seed: 7, chunks: 5, chunkMs: 200 })
const CHECKS = ['video chain', 'video manifest', 'video nonce', 'video times']

let evidence: EvidenceService
let honest: SignedPacket
beforeAll(async () => {
  evidence = await startEvidence()
  honest = await film('V-honest')
})
afterAll(() => evidence?.close())

describe('the packet of an honest video', () => {
  it('holds, with the original and without', async () => {
    const without = await check(honest)
    expect(outcomesOf(without)).toMatchObject({ ...allOf('ok'), 'video bytes': 'skipped', 'video digest': 'skipped' })
    const given = await check(honest, joinChunks(RECORDING))
    expect(outcomesOf(given)).toMatchObject({ ...allOf('ok'), 'video chunks': 'ok', 'video container': 'ok' })
    expect(failed(given)).toEqual([])
  })

  const edits: [string, string[], (manifest: VideoManifest, one: PacketAttestation) => void][] = [
    ['a link', ['video chain'], ({ chunks }) => void Object.assign(chunks?.[3] ?? {}, { link: '0'.repeat(64) })],
    ['a digest', ['video chain'], ({ chunks }) => void Object.assign(chunks?.[2] ?? {}, { sha256: '0'.repeat(64) })],
    ['the last link', ['video chain'], (manifest) => void Object.assign(manifest, { last_link: '0'.repeat(64) })],
    [
      'the seed',
      ['video nonce', 'video chain'],
      (manifest) => void Object.assign(manifest, { chain_seed: 'A'.repeat(43) }),
    ],
    [
      'the nonce',
      ['video nonce'],
      (_, { submission }) => void Object.assign(submission.bundle as object, { session_nonce: 'A'.repeat(43) }),
    ],
    ['the count', ['video manifest'], (manifest) => void Object.assign(manifest, { chunk_count: 6 })],
    ['the bytes', ['video manifest'], (manifest) => void Object.assign(manifest, { total_bytes: 6 })],
    ['the size of the file', ['video manifest'], (_, { media }) => void Object.assign(media, { size: media.size - 1 })],
    ['a chunk taken out', ['video manifest', 'video chain', 'video times'], ({ chunks }) => void chunks?.splice(1, 1)],
    [
      'a time',
      ['video times', 'video chain'],
      ({ chunks }) => void Object.assign(chunks?.[1] ?? {}, { first_pts_us: 1 }),
    ],
    ['the duration', ['video times'], (manifest) => void Object.assign(manifest, { duration_us: 1 })],
    [
      'the manifest',
      ['video manifest'],
      (_, { submission }) => void Reflect.deleteProperty(submission.bundle as object, 'video_manifest'),
    ],
    ['the form of the manifest', ['video manifest'], (manifest) => void Object.assign(manifest, { chunks: 'none' })],
  ]
  it.each(edits)('does not hold after a change: %s', async (_, checks, edit) => {
    const outcomes = outcomesOf(await check(changed(honest, edit)))
    for (const name of checks) expect(outcomes).toMatchObject({ [name]: 'failed' })
  })

  it('reports an original with other bytes, chunk by chunk', async () => {
    const other = RECORDING.map((chunk, index) => (index === 3 ? { ...chunk, data: flipped(chunk.data) } : chunk))
    expect(outcomesOf(await check(honest, joinChunks(other)))).toMatchObject({
      ...allOf('ok'),
      'video chunks': 'failed',
    })
  })

  it.each(['frame_hash_mismatch', 'video_manifest_incomplete', 'session_nonce_mismatch', 'liveness_check_failed'])(
    'with %s added refutes that finding',
    async (code) => {
      const problems = { link: { count: 1, first_index: 0 } }
      const added = {
        code,
        points: 40,
        evidence: {
          compared: '',
          expected: '',
          found: ['count_differs', 'other_seed'],
          failed: ['gap'],
          problems,
        },
      }
      const packet = changed(honest, (_, { result }) => void result?.factors.push(added as never))
      expect(failed(await check(packet))).toContain(CHECK_OF[code])
    },
  )
})

const CHECK_OF: Record<string, string> = {
  frame_hash_mismatch: 'video chain',
  video_manifest_incomplete: 'video manifest',
  session_nonce_mismatch: 'video nonce',
  liveness_check_failed: 'video times',
}

describe('the packet of a dishonest video', () => {
  const other = 'A'.repeat(43)
  const shifted = RECORDING.map((chunk, index) =>
    index < 3 ? chunk : { ...chunk, firstPtsUs: chunk.firstPtsUs + 90_000, lastPtsUs: chunk.lastPtsUs + 90_000 },
  )
  const cases: [string, string, Partial<Filmed>][] = [
    [
      'a chain of another nonce under this one',
      'frame_hash_mismatch',
      {
        manifest: (manifest) => ({ ...manifest, chunks: makeVideoManifest(other, RECORDING).chunks }),
      },
    ],
    ['another seed', 'session_nonce_mismatch', { manifest: () => makeVideoManifest(other, RECORDING) }],
    ['a count', 'video_manifest_incomplete', { manifest: (manifest) => ({ ...manifest, chunk_count: 9 }) }],
    ['no manifest', 'video_manifest_incomplete', { manifest: () => undefined }],
    ['a gap', 'liveness_check_failed', { recording: shifted }],
    ['a cut file', 'video_manifest_incomplete', { file: joinChunks(RECORDING).subarray(0, -5) }],
  ]
  it.each(cases)('confirms the finding of %s, and refutes it once it is removed', async (name, code, filmed) => {
    const packet = await film(`V-${name}`, filmed)
    const codes = packet.packet.attestations[0]?.result?.factors.map((factor) => factor.code)
    expect(codes).toContain(code)
    expect(failed(await check(packet))).toEqual([])
    expect(failed(await check(packet, filmed.file ?? joinChunks(RECORDING)))).toEqual([])
    const without = changed(packet, (_, { result }) => {
      if (result !== null) result.factors = result.factors.filter((factor) => factor.code !== code)
    })
    expect(failed(await check(without))).toContain(CHECK_OF[code])
  })

  it('confirms a wrong digest by the listed one, and by the original', async () => {
    const edited = RECORDING.map((chunk, index) => (index === 2 ? { ...chunk, data: flipped(chunk.data) } : chunk))
    const file = joinChunks(edited)
    const packet = await film('V-edited', { file })
    expect(outcomesOf(await check(packet, file))).toMatchObject({ 'video digest': 'ok', 'video chunks': 'ok' })
    const other = changed(packet, ({ chunks }) => void Object.assign(chunks?.[2] ?? {}, { sha256: '0'.repeat(64) }))
    expect(outcomesOf(await check(other, file))).toMatchObject({ 'video digest': 'failed' })
  })

  it('confirms by the original that its times differ from those of its file', async () => {
    const slow = recordVideo({ seed: 7, chunks: 5, chunkMs: 2_000 })
    const claimed = slow.map((chunk, index) => ({ ...(RECORDING[index] as VideoChunk), data: chunk.data }))
    const packet = await film('V-slow', { recording: claimed, file: joinChunks(slow) })
    const given = await check(packet, joinChunks(slow))
    expect(outcomesOf(given)).toMatchObject({ ...allOf('ok'), 'video container': 'ok' })
    const without = changed(packet, (_, { result }) => {
      if (result !== null) result.factors = []
    })
    expect(failed(await check(without, joinChunks(slow)))).toContain('video container')
  })
})

describe('the packet of a streamed video', () => {
  it.each([
    ['honest', [0, 1, 2, 3, 4], RECORDING],
    ['that lacks a chunk', [0, 1, 3, 4], RECORDING],
    ['of whose chunks one is longer', [0, 1, 2, 3, 4], [...RECORDING.slice(0, 4), { data: Buffer.alloc(900, 1) }]],
  ] as const)('%s: its findings hold', async (name, indices, sent) => {
    const session = await openSession()
    for (const index of indices) {
      const { status } = await evidence.service.call(
        evidence.caller,
        `/v1/claims/attest/sessions/${session.capture_session_id}/chunks/${index}`,
        { method: 'PUT', body: sent[index]?.data ?? '', headers: { 'Content-Type': 'video/mp4' } },
      )
      expect(status).toBe(200)
    }
    const id = await evidence.judged(`V-stream ${name}`, {
      photo: joinChunks(RECORDING),
      capturedAt: new Date(),
      media: { capture_session_id: session.capture_session_id },
      sessionNonce: session.session_nonce,
      videoManifest: makeVideoManifest(session.session_nonce, RECORDING),
    })
    const packet = await evidence.packet(id)
    expect(failed(await check(packet))).toEqual([])
    expect(
      failed(await check(packet, Buffer.concat(indices.map((index) => sent[index]?.data ?? Buffer.alloc(0))))),
    ).toEqual([])
  })
})

interface Filmed {
  recording: readonly VideoChunk[]
  file: Buffer
  manifest: (manifest: VideoManifest) => VideoManifest | undefined
}

async function openSession() {
  const { sessions } = await evidence.service.captures.issue(evidence.caller, { count: 1 })
  const [session] = sessions
  if (session === undefined) throw new Error('no session')
  return session
}

async function film(
  reference: string,
  { recording = RECORDING, file = joinChunks(recording), manifest = (one) => one }: Partial<Filmed> = {},
): Promise<SignedPacket> {
  const { session_nonce: nonce } = await openSession()
  const id = await evidence.judged(reference, {
    photo: joinChunks(recording),
    capturedAt: new Date(),
    media: inlineMedia(file, 'video/mp4'),
    sessionNonce: nonce,
    videoManifest: makeVideoManifest(nonce, recording),
    bundle: (bundle) => ({ ...bundle, video_manifest: manifest(makeVideoManifest(nonce, recording)) }),
  })
  return evidence.packet(id)
}

function changed(packet: SignedPacket, edit: (manifest: VideoManifest, one: PacketAttestation) => void): SignedPacket {
  const copy = structuredClone(packet)
  const [one] = copy.packet.attestations
  if (one === undefined) throw new Error('the packet holds nothing')
  edit((one.submission.bundle as { video_manifest: VideoManifest }).video_manifest, one)
  return copy
}

function check(packet: SignedPacket, original?: Buffer): Promise<CheckReport> {
  return checkFile(Buffer.from(JSON.stringify(packet)), {
    keys: evidence.keys,
    ...(original && { openMedia: () => Readable.from([original]) }),
  })
}

function outcomesOf({ findings }: CheckReport): Record<string, string> {
  return Object.fromEntries(findings.map(({ check: name, outcome }) => [name, outcome]))
}

function failed({ findings }: CheckReport): string[] {
  return findings
    .filter(({ check: name, outcome }) => outcome === 'failed' && name.startsWith('video'))
    .map(({ check: name }) => name)
}

function allOf(outcome: string): Record<string, string> {
  return Object.fromEntries(CHECKS.map((name) => [name, outcome]))
}
