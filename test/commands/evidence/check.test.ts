// Every change in a packet is detected, and the changed part is named.

import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { partDigests } from '#src/attest/evidence/digests.ts'
import type { SignedPacket } from '#src/attest/evidence/views.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import type { KeySet } from '#src/platform/crypto/signing-keys.ts'
import { inlineMedia } from '../../../capture-kit/device.ts'
import { joinChunks, makeVideoManifest, recordVideo } from '../../../capture-kit/video.ts'
import { type CheckReport, checkFile } from '../../../commands/evidence/check.ts'
import { diceOf } from '../../../hostile/random.ts'
import { PHOTO } from '../../attest/claims/phone.ts'
import { type EvidenceService, startEvidence } from '../../attest/evidence/service.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

let evidence: EvidenceService
let signed: SignedPacket
let pdf: Buffer
let keys: KeySet
let folder: string

beforeAll(async () => {
  evidence = await startEvidence()
  keys = evidence.keys
  const claim = { loss_location: { lat: 52.5163, lng: 13.4 } }
  const id = await evidence.judged('C-1', {}, claim)
  await evidence.judged('C-1', { gps: undefined, bundle: (bundle) => ({ ...bundle, sensor_hash: '0'.repeat(64) }) })
  signed = await evidence.packet(id)
  pdf = await evidence.pdf(id)
  folder = await mkdtemp(join(tmpdir(), 'evidence-'))
})
afterAll(async () => {
  await evidence?.close()
  await rm(folder, { recursive: true, force: true })
})

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value))
const failedParts = ({ findings }: CheckReport) =>
  new Set(findings.filter((one) => one.outcome === 'failed').map((one) => one.part))

/** A changed copy. */
function changed(change: (copy: SignedPacket) => void): Buffer {
  const copy = structuredClone(signed)
  change(copy)
  return bytesOf(copy)
}

describe('an unchanged packet', () => {
  it('holds, as JSON and as a document', async () => {
    for (const file of [bytesOf(signed), pdf]) {
      const { findings } = await checkFile(file, { keys })
      expect(findings.filter(({ outcome }) => outcome !== 'ok' && outcome !== 'skipped')).toEqual([])
      expect(findings.length).toBeGreaterThan(20)
    }
  })

  it('of a video with more chunks than a page shows contains every one of them', async () => {
    const recording = recordVideo({ seed: 5, chunks: 130, chunkMs: 100 })
    const { sessions } = await evidence.service.captures.issue(evidence.caller, { count: 1 })
    const sessionNonce = sessions[0]?.session_nonce ?? ''
    const photo = joinChunks(recording)
    const id = await evidence.judged('C-video', {
      photo,
      capturedAt: new Date(),
      media: inlineMedia(photo, 'video/mp4'),
      sessionNonce,
      videoManifest: makeVideoManifest(sessionNonce, recording),
    })
    const { findings } = await checkFile(bytesOf(await evidence.packet(id)), { keys })
    expect(findings.filter(({ outcome }) => outcome !== 'ok' && outcome !== 'skipped')).toEqual([])
  })

  it('is unproven when only its own keys are at hand', async () => {
    const { findings } = await checkFile(bytesOf(signed))
    expect(findings.filter(({ outcome }) => outcome !== 'ok' && outcome !== 'skipped')).toEqual([
      expect.objectContaining({ part: 'keys', outcome: 'unproven' }),
    ])
  })
})

describe('a changed packet', () => {
  it('with any byte changed does not hold, and the changed part is named', async () => {
    const dice = diceOf(20261121, 'packet', 0)
    const file = bytesOf(signed)
    const before = partDigests(signed.packet)
    let found = 0
    for (let round = 0; round < 150; round += 1) {
      const at = dice.below(file.length)
      const mutant = Buffer.from(file)
      mutant[at] = ((mutant[at] ?? 0) + 1 + dice.below(255)) % 256
      const report = await checkFile(mutant, { keys })
      const value = parsed(mutant)
      // The same value in another notation, such as an escape in capitals, is not a change.
      if (value !== undefined && canonicalize(value as never) === canonicalize(signed as never)) continue
      found += 1
      const failed = failedParts(report)
      expect(failed.size, `byte ${at}`).toBeGreaterThan(0)
      const packet = (value as SignedPacket | undefined)?.packet
      if (packet === undefined || typeof packet !== 'object' || failed.has('file')) continue
      const after = partDigests(packet)
      for (const name of Object.keys(before)) {
        if (before[name] !== after[name]) expect(failed, `byte ${at}`).toContain(name)
      }
    }
    expect(found).toBeGreaterThan(100)
  })

  it('with a change on any page, in its attachment or in its seal does not hold', async () => {
    const dice = diceOf(20261121, 'document', 0)
    for (let round = 0; round < 60; round += 1) {
      // Half of the changes are in the seal, which is short.
      const at = round % 2 === 0 ? dice.below(pdf.length) : pdf.length - 1 - dice.below(500)
      const mutant = Buffer.from(pdf)
      mutant[at] = ((mutant[at] ?? 0) + 1 + dice.below(255)) % 256
      expect(failedParts(await checkFile(mutant, { keys })).size, `byte ${at} of ${pdf.length}`).toBeGreaterThan(0)
    }
  })

  it('with a plausible change names the part that was changed', async () => {
    const [first, second] = signed.packet.attestations
    const part = `attestations/${first?.attestation_id}`
    const cases: [string, string[], (copy: SignedPacket) => void][] = [
      [
        'points',
        [part],
        ({
          packet: {
            attestations: [one],
          },
        }) => void Object.assign(one?.result?.factors[0] ?? {}, { points: 10 }),
      ],
      [
        'a finding taken out',
        [part],
        ({
          packet: {
            attestations: [one],
          },
        }) => void one?.result?.factors.shift(),
      ],
      [
        'a place',
        [`attestations/${second?.attestation_id}`],
        ({
          packet: {
            attestations: [, two],
          },
        }) => void Object.assign(two?.submission.bundle ?? {}, { gps: null }),
      ],
      [
        'another key',
        [part],
        ({
          packet: {
            attestations: [one],
          },
        }) => void Object.assign(one ?? {}, { key: null }),
      ],
      [
        'a name in a certificate',
        [part],
        ({
          packet: {
            attestations: [one],
          },
        }) => void Object.assign(one?.certificates.chain[0] ?? {}, { subject: 'CN=Other' }),
      ],
      ['an attestation taken out', [part, 'claim'], ({ packet }) => void packet.attestations.shift()],
      [
        'an attestation twice',
        [`${part} (again, at 2)`],
        ({ packet }) => void packet.attestations.push(structuredClone(packet.attestations[0] as never)),
      ],
      ['the result of the claim', ['claim'], ({ packet }) => void Object.assign(packet.claim, { risk_score: 0 })],
      ['a case', ['cases'], ({ packet }) => void Object.assign(packet.cases[0] ?? {}, { state: 'approved' })],
      ['the history', ['timeline'], ({ packet }) => void packet.timeline.moments.pop()],
      [
        'a device',
        [`devices/${evidence.phone.id}`],
        ({ packet }) => void Object.assign(packet.devices[0] ?? {}, { hardware_tier: 'strongbox' }),
      ],
      ['whose it is', ['about'], ({ packet }) => void Object.assign(packet.about, { account_id: 'acc_other' })],
      ['its digest', ['packet'], (copy) => void Object.assign(copy, { packet_sha256: '0'.repeat(64) })],
      ['a member more', ['file'], (copy) => void Object.assign(copy, { note: 'trust me' })],
    ]
    for (const [name, parts, change] of cases) {
      const failed = failedParts(await checkFile(changed(change), { keys }))
      for (const one of parts) expect(failed, name).toContain(one)
    }
  })

  it('with the signature of another packet does not hold', async () => {
    const other = await evidence.packet(await evidence.judged('C-2'))
    const mixed = changed((copy) => void Object.assign(copy, { signature: other.signature }))
    expect(failedParts(await checkFile(mixed, { keys }))).toContain('packet')
    const [one] = other.packet.attestations
    const swapped = changed(
      ({ packet: { attestations } }) =>
        void Object.assign(attestations[0]?.result ?? {}, { result_jws: one?.result?.result_jws }),
    )
    const { findings } = await checkFile(swapped, { keys })
    expect(findings).toContainEqual(expect.objectContaining({ check: 'result as signed', outcome: 'failed' }))
  })

  it('is refused when its signer is not the service', async () => {
    const strangers = { keys: keys.keys.map((key) => ({ ...key, x: key.y, y: key.x })) }
    expect(failedParts(await checkFile(bytesOf(signed), { keys: strangers }))).toContain('keys')
    const [signer, ...others] = keys.keys.filter(({ env, family }) => env === 'sandbox' && family === 'record')
    expect(others).toEqual([])
    const announced = { ...keys.keys[0], kid: 'later', env: 'sandbox', family: 'record' }
    const more = changed(({ packet }) => void packet.keys.push(announced as never))
    expect(failedParts(await checkFile(more, { keys: { keys: signer === undefined ? [] : [signer] } }))).toEqual(
      new Set(['keys', 'packet']),
    )
    const none = await checkFile(bytesOf(signed), { keys: { keys: [] } })
    expect(failedParts(none)).toContain('packet')
  })

  it('that is unreadable is reported as such', async () => {
    const files = [
      '',
      '{',
      '[]',
      'null',
      '{"packet":{},"packet_sha256":"","signature":""}',
      '%PDF-1.7',
      `%PDF-/Type /EmbeddedFile /Length 9 stream\nx`,
      '{"a":1,"a":2}',
      `${'['.repeat(9_000)}`,
    ]
    for (const file of files) {
      const report = await checkFile(Buffer.from(file), { keys })
      expect(failedParts(report).size, file.slice(0, 20)).toBeGreaterThan(0)
      expect(report.packet).toBeUndefined()
    }
  })
})

describe('npm run evidence', () => {
  it('ends with 0, 1 or 2, and prints what does not hold', async () => {
    const place = (name: string) => join(folder, name)
    await Promise.all([
      writeFile(place('good.pdf'), pdf),
      writeFile(
        place('bad.json'),
        changed(({ packet }) => void Object.assign(packet.claim, { line: 'home' })),
      ),
      writeFile(place('keys.json'), bytesOf(keys)),
      writeFile(place('photo.jpg'), PHOTO),
    ])
    const runs: [string[], number, RegExp][] = [
      [['verify', place('good.pdf'), '--url', evidence.service.app.url, '--media', folder], 0, /pages +1 hold/],
      [
        ['verify', place('bad.json'), '--keys', place('keys.json')],
        1,
        /claim +\d hold, 1 do not hold[\s\S]*was changed after/,
      ],
      [['verify'], 2, /Which packet/],
    ]
    const outcomes = await Promise.all(runs.map(([args]) => run(args)))
    for (const [index, [, code, pattern]] of runs.entries()) {
      expect(outcomes[index]?.code, outcomes[index]?.output).toBe(code)
      expect(outcomes[index]?.output).toMatch(pattern)
    }
  })
})

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

async function run(args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(ROOT, 'commands/evidence.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  const ended = new Promise<number | null>((done) => void child.on('close', done))
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, output: out + err }
}
