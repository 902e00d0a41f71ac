// Manifests and declared provenance: the scan on a thread of its own, then the reader in its thread, as in production.
// Most seeds were signed for this, so that the mutated inputs are small and complete.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import sharp from 'sharp'
import { judgeC2paAbsent, judgeC2paInvalid, judgeC2paValid } from '#src/attest/factors/c2pa.ts'
import type { ByteSource } from '#src/attest/media/byte-source.ts'
import { createC2paReader } from '#src/attest/media/c2pa.ts'
import { scanForC2pa } from '#src/attest/media/c2pa-scan.ts'
import { declaredProvenance } from '#src/attest/media/declared.ts'
import { judgeHeader } from '#src/attest/media/header.ts'
import { createInspector } from '#src/attest/media/inspector.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { factsOf } from '../test/attest/factors/vectors.ts'
import { structure, withBlock } from '../test/attest/media/structure.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { hold, type Parser } from './parser.ts'
import { corpusFiles, VIDEOS } from './seeds.ts'

type Name = 'files' | 'untrusted' | 'endedRoots'
const file: Record<Name, string[]> & Record<'root' | 'authority', string> = JSON.parse(
  readFileSync(new URL('c2pa-seeds.json', import.meta.url), 'utf8'),
)
const der = (text: string) => Buffer.from(text, 'base64')
const unpacked = (texts: readonly string[]) => texts.map((text) => inflateRawSync(der(text)))
/** Five formats, and a manifest over an ingredient with one. */
const SIGNED = unpacked(file.files)
/** Certificates that have ended, in no list or with a time stamp of an authority in none. */
const UNTRUSTED = unpacked(file.untrusted)
const AT = new Date('2026-06-01T00:00:00Z')
const CV = 'http://cv.iptc.org/newscodes/digitalsourcetype/'
// The longest text: one code, and what a generator wrote or a list of source types.
const MAX_FINDINGS_BYTES = 32 * 1024

export async function c2paParsers(): Promise<Parser[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-c2pa-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'case')
  const real = corpusFiles('c2pa', /\.(jpg|png)$/, 170_000)
  const seeds = [...SIGNED, ...(await declaring()), ...real]
  const inspector = createInspector()
  const reader = createC2paReader({ anchors: [der(file.root)] })
  const lists = { anchors: file.endedRoots.map(der), authorities: [der(file.authority)] }
  const strict = createC2paReader(lists)

  return [
    {
      name: 'scan for a manifest',
      source: 'attest/media/c2pa-scan',
      limit: { kind: 'thread', ms: 50 },
      refusals: ['absent', 'too_many_parts', 'unknown_format'],
      make: (dice) => mutateBytes([...SIGNED, ...Object.values(VIDEOS)], dice),
      run(input) {
        let reads = 0
        const { state } = scanForC2pa({
          size: input.length,
          read(offset, length) {
            reads += 1
            hold(offset >= 0 && length >= 0 && offset + length <= input.length, 'it reads only what is there')
            return input.subarray(offset, offset + length)
          },
        })
        hold(reads <= 20_000, 'its reads are bounded')
        return state === 'present' ? 'accepted' : state
      },
    },
    {
      name: 'what a header asks for',
      source: 'attest/media/header',
      limit: { kind: 'thread', ms: 100 },
      refusals: ['refused'],
      make: (dice) => mutateBytes(seeds, dice, 4 * 1024 * 1024),
      run(input) {
        let reads = 0
        const source: ByteSource = {
          size: input.length,
          read(offset, length) {
            reads += 1
            hold(offset >= 0 && length >= 0 && offset + length <= input.length, 'it reads only what is there')
            return input.subarray(offset, offset + length)
          },
        }
        const verdicts = [judgeHeader(source), judgeHeader(source, { isDecoded: true })]
        hold(reads <= 20_000, 'its reads are bounded')
        hold(verdicts[0] === undefined || verdicts[0] === verdicts[1], 'what is not read is not decoded')
        return verdicts[0] === undefined ? 'accepted' : 'refused'
      },
    },
    {
      name: 'C2PA that nothing makes trusted',
      source: 'attest/media/c2pa, c2pa-facts',
      limit: { kind: 'wall', ms: 8_000 },
      refusals: ['absent', 'malformed', 'Invalid', 'unread', 'not_applicable'],
      // Each alone: parts of two together are signed by neither.
      make: (dice) => mutateBytes([dice.pick(UNTRUSTED)], dice, 4 * 1024 * 1024),
      async run(input) {
        writeFileSync(path, input)
        const scan = scanForC2pa({
          size: input.length,
          read: (offset, length) => input.subarray(offset, offset + length),
        })
        const options = { scan, manifestReference: null, anchors: async () => [], at: AT }
        const reading = await strict.read(path, options)
        hold(reading.ok, `the reader gives an answer: ${reading.ok ? '' : reading.code}`)
        const { value } = reading
        if (value.state !== 'read') return value.state
        const { validationState: state, failures, timeStamp } = value.manifest
        hold(state !== 'Trusted', 'nobody whose word counts signed it')
        const isOpen = failures.includes('signingCredential.untrusted') || timeStamp === 'unknown_authority'
        hold(state !== 'Valid' || isOpen, 'what is valid and not trusted says whom it does not know')
        return state === 'Valid' ? 'accepted' : state
      },
    },
    {
      name: 'C2PA and declared provenance',
      source: 'attest/media/c2pa, declared',
      limit: { kind: 'wall', ms: 8_000 },
      refusals: ['unreadable', 'absent', 'malformed', 'invalid', 'unread', 'not_applicable'],
      make: (dice) => mutateBytes(seeds, dice, 4 * 1024 * 1024),
      async run(input) {
        writeFileSync(path, input)
        const inspected = await inspector.inspect(path)
        if (!inspected.ok) return inspected.code
        const { c2pa: scan, declared } = inspected.value
        const { manifestReference } = declared
        const options = { scan, manifestReference, anchors: async () => [], at: AT }
        const reading = await reader.read(path, options)
        hold(reading.ok, `the reader gives an answer: ${reading.ok ? '' : reading.code}`)
        const facts = { ...factsOf({}), c2pa: reading.value, declared }
        const factors = [judgeC2paAbsent, judgeC2paInvalid, judgeC2paValid].flatMap((judge) => judge(facts) ?? [])
        const findings = canonicalize(JSON.parse(JSON.stringify([factors, declaredProvenance(facts)])))
        hold(factors.length <= 1, 'one finding at most')
        hold(findings.length <= MAX_FINDINGS_BYTES, 'findings are bounded')
        const again = await reader.read(path, options)
        hold(JSON.stringify(again) === JSON.stringify(reading), 'the same bytes give the same facts')
        const { state } = reading.value
        if (state !== 'read') return state
        return factors[0]?.code === 'c2pa_present_valid' ? 'accepted' : 'invalid'
      },
    },
  ]
}

/** Pictures that declare a generator in XMP and in EXIF. */
async function declaring(): Promise<Buffer[]> {
  const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
    rdf:about="" xmlns:i="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" i:DigitalSourceType="${CV}trainedAlgorithmicMedia"
    i:CreatorTool="Midjourney 6" i:provenance="https://example.com/a.c2pa"/></rdf:RDF></x:xmpmeta>`
  const comment = Buffer.from('UNICODE\0a duck\nSteps: 20, Sampler: Euler, Seed: 1')
  const jpeg = await sharp({ create: { width: 32, height: 24, channels: 3, background: '#678' } })
    .jpeg()
    .toBuffer()
  return [
    await sharp(jpeg).withXmp(xmp).png().toBuffer(),
    await sharp(jpeg).withXmp(xmp).webp().toBuffer(),
    withBlock(jpeg, structure({ ifd0: [], exif: [{ tag: 0x9286, type: 7, value: comment }] })),
  ]
}
