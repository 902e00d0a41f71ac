// Parsers of bodies: JSON, lines of a batch, certificates and signatures. They run on the thread that serves all
// requests.

import { createPublicKey } from 'node:crypto'
import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { judgeLine } from '#src/attest/batches/lines.ts'
import { type AttestRequest, attestRequest, checkSubmission } from '#src/attest/claims/submission.ts'
import { contentOf } from '#src/attest/claims/submission-text.ts'
import { judgeEnrollment } from '#src/attest/devices/enrollment.ts'
import { Failure } from '#src/failure.ts'
import { canonicalize, parseJson } from '#src/platform/crypto/canonical.ts'
import { verifyEcdsaP256 } from '#src/platform/crypto/ecdsa.ts'
import { type Certificate, checkChain, parseCertificate, parseChain } from '#src/platform/crypto/x509.ts'
import { DEFAULT_BODY_VALUES, parseJsonBody } from '#src/platform/http/body.ts'
import { readElements } from '#src/platform/http/json-array.ts'
import { type Line, readLines } from '#src/platform/http/ndjson.ts'
import { parseWith } from '#src/platform/http/validate.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { mutateDer } from './mutate-der.ts'
import { mutateArray, mutateJson, mutateLines } from './mutate-json.ts'
import { hold, type Parser } from './parser.ts'
import type { Dice } from './random.ts'
import { attestBody, BUNDLE, CHAIN, corpusCertificates, corpusFiles, OTHERS, ROOT, SIGNATURE, SLOW } from './seeds.ts'
import { refusalOf } from './text-parsers.ts'

const JSON_LIMITS = { maxBytes: 1024 * 1024, maxDepth: 32 }
// A quarter of a megabyte at most: see mutate-bytes.ts.
const LIMIT = { kind: 'thread', ms: 250 } as const

const MEDIA = { media_id: `med_test_${'0'.repeat(26)}` }
const jsonOf = (value: unknown) => Buffer.from(JSON.stringify(value))
const SLOW_ATTEST = { ...attestBody(MEDIA), certificate_chain: SLOW.slice(0, 4).map((one) => one.toString('base64')) }
const ATTEST = [
  jsonOf(SLOW_ATTEST),
  jsonOf(attestBody(MEDIA)),
  jsonOf(attestBody({ content_type: 'image/jpeg', data: '/9j/4A==' })),
]
const LINES = [jsonOf(SLOW_ATTEST), jsonOf(attestBody(MEDIA)), jsonOf({ media_type: 'image', media: MEDIA })]
const CERTIFICATES = [...CHAIN, ROOT, ...OTHERS, ...SLOW]
const SPKI = createPublicKey({ key: spkiOf(CHAIN[0]), format: 'der', type: 'spki' })
const DATA = Buffer.from(canonicalize(BUNDLE as never))
const RAW = Buffer.from(SIGNATURE, 'base64url')
const NOW = new Date('2026-11-20T12:00:00Z')
const ANCHORS = [certificateOf(ROOT)]

const CERTIFICATE_CODES = ['too_large', 'not_a_certificate', 'unsupported_key', 'ml_dsa_key']
/** Refusals of a certificate chain. */
export const CHAIN_CODES = [
  ...CERTIFICATE_CODES,
  'too_many',
  'duplicate',
  'unknown_ca',
  'expired',
  'not_yet_valid',
  'bad_signature',
  'not_a_ca',
  'path_length',
  'name_mismatch',
  'key_usage',
  'weak_key',
]

export function bodyParsers(): Parser[] {
  const real = corpusCertificates()
  const texts = corpusFiles('jcs/input', /\.json$/)
  return [
    json('JSON', ATTEST),
    ...(texts.length > 0 ? [json('JSON, real files', texts)] : []),
    {
      name: 'attest body',
      source: 'attest/claims/submission',
      limit: LIMIT,
      refusals: ['invalid_json', 'payload_too_large', 'invalid_request', 'refused'],
      make: (dice) => mutateJson(ATTEST, dice),
      run: judgeBody,
    },
    batch('batch lines', LINES, (stream) => readLines(stream, { maxLines: 10_000, maxLineBytes: 64 * 1024 })),
    batch('batch array', LINES, (stream) =>
      readElements(stream, { maxLines: 10_000, maxLineBytes: 64 * 1024, maxBytes: 20 * 1024 * 1024 }),
    ),
    certificate('certificate', CERTIFICATES),
    ...(real.length > 0 ? [certificate('certificate, real files', real)] : []),
    {
      name: 'certificate chain',
      source: 'platform/crypto/x509',
      limit: LIMIT,
      refusals: CHAIN_CODES,
      make: (dice) =>
        packed(
          dice.once(4)
            ? slowChain(dice)
            : [0, 1].map((at) =>
                dice.once(3) ? (CHAIN[at] ?? ROOT) : mutateDer([CHAIN[at] ?? ROOT, ...CERTIFICATES], dice),
              ),
        ),
      run: judgeChain,
    },
    {
      name: 'enrollment',
      source: 'attest/devices/enrollment',
      limit: LIMIT,
      refusals: [...CHAIN_CODES, 'invalid_base64', 'too_few', 'is_a_ca'],
      make: (dice) => {
        const chain = Array.from(
          { length: dice.pick([0, 1, 2, 2, 2, 3, 8, 9]) },
          (_, at) => CHAIN[at] ?? dice.pick(CERTIFICATES),
        )
        if (dice.once(4)) chain.push(...slowChain(dice))
        const texts = chain.map((der) =>
          (dice.once(2) ? der : mutateDer([der, ...CERTIFICATES], dice)).toString('base64'),
        )
        return Buffer.from(
          texts.map((text) => (dice.once(8) ? mutateBytes([Buffer.from(text)], dice).toString() : text)).join('|'),
        )
      },
      run: enroll,
    },
    {
      name: 'signature',
      source: 'platform/crypto/ecdsa',
      limit: { kind: 'wall', ms: 1_000 },
      refusals: ['invalid'],
      make: (dice) =>
        packed([
          dice.once(2) ? mutateDer([toDer(RAW)], dice) : mutateBytes([RAW, toDer(RAW)], dice, 4_096),
          dice.once(3) ? mutateDer([spkiOf(CHAIN[0])], dice) : spkiOf(CHAIN[0]),
        ]),
      run: checkSignature,
    },
  ]
}

function json(name: string, seeds: readonly Buffer[]): Parser {
  return {
    name,
    source: 'platform/crypto/canonical',
    limit: LIMIT,
    refusals: ['invalid_json', 'payload_too_large'],
    make: (dice) => mutateJson(seeds, dice),
    run: (input) =>
      refusalOf(() => {
        const value = parseJson(input, JSON_LIMITS)
        const text = canonicalize(value)
        const again = parseJson(Buffer.from(text), { ...JSON_LIMITS, maxBytes: 4 * JSON_LIMITS.maxBytes })
        hold(canonicalize(again) === text, 'what was canonical stays as it is')
        hold(isDeepStrictEqual(JSON.parse(text), again), 'both readers see one value')
        hold(isDeepStrictEqual(JSON.parse(input.toString()), value), 'and so does every reader of what was sent')
        const numbers =
          input
            .toString()
            .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
            .match(/-?\d[\d.eE+-]*/g) ?? []
        hold(
          numbers.every((number) => Number(number) !== 0 || !/^[^eE]*[1-9]/.test(number)),
          'no number that is not 0 becomes 0',
        )
      }),
  }
}

function judgeBody(input: Buffer): string {
  let findings = 0
  const outcome = refusalOf(() => {
    const parsed = parseWith(
      attestRequest,
      parseJsonBody(input, { ...JSON_LIMITS, maxValues: DEFAULT_BODY_VALUES }),
      'body',
    )
    const errors = parsed.ok ? checkSubmission(parsed.value as AttestRequest, 'sandbox', NOW.getTime()) : parsed.errors
    findings = errors.length
    hold(errors.length <= 100, 'findings are bounded')
    hold(
      errors.every(({ pointer, detail }) => pointer.length <= 501 && detail.length <= 1_000),
      'and so are their texts',
    )
    // What is accepted can be stored: it has a digest, and text that Postgres accepts.
    if (errors.length > 0 || !parsed.ok) return
    hold(!canonicalize(contentOf(parsed.value as AttestRequest, 'med')).includes('\\u0000'), 'no U+0000')
  })
  return findings > 0 ? 'refused' : outcome
}

function batch(name: string, seeds: readonly Buffer[], read: (stream: Readable) => AsyncIterable<Line>): Parser {
  async function judge(chunks: Buffer[]): Promise<{ lines: unknown[]; accepted: number }> {
    const lines: unknown[] = []
    let accepted = 0
    for await (const { line, bytes } of read(Readable.from(chunks))) {
      const verdict = judgeLine(bytes, 'sandbox', NOW.getTime())
      if ('body' in verdict) accepted += 1
      else hold(verdict.errors.length > 0, 'a refusal says why')
      lines.push([line, 'body' in verdict ? 'accepted' : verdict.errors])
    }
    return { lines, accepted }
  }
  return {
    name,
    source: name === 'batch lines' ? 'platform/http/ndjson' : 'attest/batches/elements',
    limit: LIMIT,
    refusals: ['refused', 'invalid_json', 'payload_too_large'],
    make: (dice) => (name === 'batch lines' ? mutateLines(seeds, dice) : mutateArray(seeds, dice)),
    async run(input) {
      const whole = await judge([input]).catch(codeOfFailure)
      if (input.length <= 32 * 1024) {
        const pieces = await judge(cut(input, 61)).catch(codeOfFailure)
        hold(isDeepStrictEqual(whole, pieces), 'it does not matter how the bytes arrive')
      }
      if (typeof whole === 'string') return whole
      return whole.accepted > 0 ? 'accepted' : 'refused'
    },
  }
}

function certificate(name: string, seeds: readonly Buffer[]): Parser {
  return {
    name,
    source: 'platform/crypto/x509',
    limit: LIMIT,
    refusals: CERTIFICATE_CODES,
    make: (dice) => mutateDer(seeds, dice),
    run(input) {
      const parsed = parseCertificate(input)
      if (!parsed.ok) return parsed.code
      const { certificate: read } = parsed
      holdBounded(read)
      hold(read.der.equals(input), 'it keeps the bytes that it read')
      hold(!/\p{Cc}/u.test(read.subject + read.issuer), 'names can be stored and shown')
      hold(/^-?[0-9a-f]+$/.test(read.serialNumberHex), 'the serial number is a number')
      for (const at of [read.notBefore, read.notAfter]) hold(at.toISOString().length > 0, 'its times are times')
      return 'accepted'
    },
  }
}

// One verification with a longer exponent takes as long as a hundred others.
function holdBounded({ publicKey }: Certificate): void {
  const { publicExponent = 3n, modulusLength = 0 } = publicKey.asymmetricKeyDetails ?? {}
  hold(publicExponent < 2n ** 32n && modulusLength <= 8_192, 'no key is accepted that is costly to verify with')
}

/** The value unchanged, with valid signatures, or with one of the costly keys. */
function slowChain(dice: Dice): Buffer[] {
  const chain = [...SLOW]
  const at = dice.below(chain.length)
  if (dice.once(2)) chain[at] = mutateDer([chain[at] ?? ROOT], dice)
  return chain.slice(0, 1 + dice.below(chain.length))
}

function judgeChain(input: Buffer): string {
  const parsed = parseChain(unpacked(input))
  if (!parsed.ok) return parsed.code
  for (const read of parsed.certificates) holdBounded(read)
  const verdict = checkChain({ chain: parsed.certificates, anchors: ANCHORS, at: NOW })
  if (!verdict.isTrusted) return verdict.code
  const [leaf] = parsed.certificates
  hold(
    leaf !== undefined && signedPart(leaf.der).equals(signedPart(CHAIN[0])),
    'nothing is trusted but what was signed',
  )
  return 'accepted'
}

function enroll(input: Buffer): string {
  const texts = input.length === 0 ? [] : input.toString().split('|')
  const verdict = judgeEnrollment(
    { certificate_chain: texts },
    { scope: { accountId: 'acc_1', environment: 'sandbox' }, anchors: ANCHORS, now: NOW },
  )
  if (!verdict.isAccepted) return verdict.errors[0]?.code ?? 'no reason'
  hold(verdict.device.spki.equals(spkiOf(CHAIN[0])), 'only the phone whose certificate was signed')
  return 'accepted'
}

async function checkSignature(input: Buffer): Promise<string> {
  const [signature = Buffer.alloc(0), spki = Buffer.alloc(0)] = unpacked(input)
  const isValid = await verifyEcdsaP256({ spki, data: DATA, signature })
  hold(
    (await verifyEcdsaP256({ spki: SPKI, data: DATA, signature })) === isValid || !spki.equals(spkiOf(CHAIN[0])),
    'one answer for one key',
  )
  if (!isValid) return 'invalid'
  hold(signature.equals(RAW) || signature.equals(toDer(RAW)), 'only the phone’s signature is valid, in its two forms')
  hold(spki.equals(spkiOf(CHAIN[0])), 'with its key in its one form')
  return 'accepted'
}

const codeOfFailure = (error: unknown): string => {
  if (error instanceof Failure) return error.code
  throw error
}

function certificateOf(der: Buffer): Certificate {
  const parsed = parseCertificate(der)
  if (!parsed.ok) throw new Error(parsed.detail)
  return parsed.certificate
}

function spkiOf(der: Buffer | undefined): Buffer {
  return certificateOf(der ?? Buffer.alloc(0)).spki
}

// The signed part of a certificate: the first element inside.
function signedPart(der: Buffer | undefined): Buffer {
  const bytes = der ?? Buffer.alloc(0)
  return bytes.subarray(4, 8 + bytes.readUInt16BE(6))
}

function toDer(raw: Buffer): Buffer {
  const integer = (scalar: Buffer) => {
    const bytes = Buffer.from(
      BigInt(`0x${scalar.toString('hex')}`)
        .toString(16)
        .replace(/^(?=(?:..)*.$)/, '0'),
      'hex',
    )
    const signed = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes
    return Buffer.concat([Buffer.from([2, signed.length]), signed])
  }
  const body = Buffer.concat([integer(raw.subarray(0, 32)), integer(raw.subarray(32))])
  return Buffer.concat([Buffer.from([0x30, body.length]), body])
}

// Several inputs in one: each after its length.
function packed(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => [Buffer.from([part.length >> 16, (part.length >> 8) & 0xff, part.length & 0xff]), part]),
  )
}

function unpacked(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUIntBE(at, 3)
    parts.push(bytes.subarray(at + 3, at + 3 + length))
    at += 3 + length
  }
  return parts
}

function cut(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}
