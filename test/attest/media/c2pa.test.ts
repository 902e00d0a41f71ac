import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WasmReader } from '@contentauth/c2pa-wasm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { judge } from '#src/attest/factors/judge.ts'
import { type C2paReader, createC2paReader, MAX_C2PA_BYTES } from '#src/attest/media/c2pa.ts'
import type { C2paFacts } from '#src/attest/media/c2pa-facts.ts'
import { readTrustAnchors } from '#src/attest/media/c2pa-trust.ts'
import { createInspector } from '#src/attest/media/inspector.ts'
import { limitMemory } from '#src/attest/media/wasm-memory.ts'
import { readConfig } from '#src/config.ts'
import { makeDer, makeSlowRsa, rsa } from '../../platform/crypto/pki.ts'
import { factsOf } from '../factors/vectors.ts'
import { type C2paSigner, type ManifestOptions, makeC2paSigner, makePicture } from './c2pa-signing.ts'

const AT = new Date('2026-06-01T00:00:00Z')
const MISBEHAVING = new URL('./misbehaving-thread.ts', import.meta.url)

let folder = ''
let signer: C2paSigner
let stranger: C2paSigner
let reader: C2paReader
const inspector = createInspector()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'c2pa-'))
  signer = await makeC2paSigner()
  stranger = await makeC2paSigner()
  reader = createC2paReader({ anchors: [signer.root] })
})
afterAll(async () => {
  await reader.close()
  await inspector.close()
  await rm(folder, { recursive: true })
})

describe('a manifest', () => {
  it.each(['jpeg', 'png', 'webp', 'avif', 'tiff'] as const)('is found and read in %s', async (format) => {
    const signed = await signer.sign(await makePicture(format), `image/${format}`, { sourceType: 'digitalCapture' })
    expect(await read(signed)).toMatchObject({
      state: 'read',
      manifest: {
        validationState: 'Trusted',
        failures: [],
        ingredientFailures: [],
        signer: { issuer: 'Acme', commonName: 'Camera 1', algorithm: 'Es256' },
        claimGenerator: 'Acme Camera 1.0',
        sources: [{ manifest: 'active', action: 'c2pa.created', type: expect.stringMatching(/\/digitalCapture$/) }],
        trustList: { certificates: 1 },
      },
    })
    expect(advisoriesOf(await read(signed))).toMatchObject([
      { code: 'c2pa_present_valid', evidence: { trusted: true, codes: [], ai_declared: false } },
    ])
  })

  it('of an unknown signer is valid and not trusted, until the account trusts its root', async () => {
    const signed = await photo({}, stranger)
    expect(advisoriesOf(await read(signed))).toMatchObject([
      {
        code: 'c2pa_present_valid',
        evidence: { validation_state: 'Valid', trusted: false, codes: ['signingCredential.untrusted'] },
      },
    ])
    const trusted = await read(signed, { anchors: [stranger.root] })
    expect(advisoriesOf(trusted)).toMatchObject([
      { code: 'c2pa_present_valid', evidence: { trusted: true, trust_list: { certificates: 2 } } },
    ])
  })

  it('under a certificate whose RSA exponent is as long as its modulus is read as fast as others', async () => {
    // The library has its own bound on exponents: it verifies nothing with such a key, and trusts no signer through it.
    const algorithm = rsa(3072)
    const keys = await makeSlowRsa()
    const years = { from: '2020-01-01T00:00:00Z', until: '2060-01-01T00:00:00Z' }
    const authority = await makeDer({ name: 'Slow root,O=Acme', isCa: true, keys, algorithm, ...years })
    const slow = await makeC2paSigner({ authority })
    expect(advisoriesOf(await read(await photo({}, slow), { anchors: [authority.der] }))).toMatchObject([
      { code: 'c2pa_present_valid', evidence: { trusted: false, codes: ['signingCredential.untrusted'] } },
    ])
  })

  it('that was signed over other bytes is invalid, and the evidence names the failed check', async () => {
    const changed = await photo()
    // The last byte of the picture's data, before the end marker.
    changed.writeUInt8(changed.readUInt8(changed.length - 3) ^ 1, changed.length - 3)
    expect(advisoriesOf(await read(changed))).toMatchObject([
      { code: 'c2pa_invalid', evidence: { found: 'changed after signing', codes: ['assertion.dataHash.mismatch'] } },
    ])

    const forged = await photo({ title: 'an honest title' })
    forged.write('another ti', forged.indexOf('an honest title'))
    expect(advisoriesOf(await read(forged))).toMatchObject([{ code: 'c2pa_invalid', evidence: { trusted: false } }])
  })

  it('that can not be parsed is malformed', async () => {
    const damaged = await photo()
    const at = damaged.indexOf('c2pa.claim')
    damaged.fill(0xff, at - 40, at + 200)
    expect(await read(damaged)).toMatchObject({ state: 'malformed', code: expect.stringMatching(/^\w+$/) })
    expect(advisoriesOf(await read(damaged))).toMatchObject([
      { code: 'c2pa_invalid', evidence: { found: 'malformed' } },
    ])
  })

  it('over a broken ingredient is invalid, with any last signer', async () => {
    const broken = await photo({ sourceType: 'digitalCapture' }, stranger)
    broken.writeUInt8(broken.readUInt8(broken.length - 3) ^ 1, broken.length - 3)
    const signed = await photo({ ingredients: [{ bytes: broken, mime: 'image/jpeg' }] })
    expect(advisoriesOf(await read(signed))).toMatchObject([
      {
        code: 'c2pa_invalid',
        evidence: {
          found: 'broken ingredient',
          validation_state: 'Trusted',
          ingredient_codes: ['assertion.dataHash.mismatch', 'signingCredential.untrusted'],
        },
      },
    ])
  })

  it('distinguishes a complete history from an incomplete one', async () => {
    const part = { bytes: await photo(), mime: 'image/jpeg' }
    const wholePart = { bytes: await photo({ isWhole: true }), mime: 'image/jpeg' }
    const isWhole = async (manifest: ManifestOptions) =>
      advisoriesOf(await read(await photo(manifest)))[0]?.evidence.all_actions_declared
    expect(await isWhole({ isWhole: true })).toBe(true)
    expect(await isWhole({})).toBe(false)
    expect(await isWhole({ isWhole: true, ingredients: [wholePart] })).toBe(true)
    expect(await isWhole({ isWhole: true, ingredients: [part] })).toBe(false)
  })

  it('declares what an ingredient of an ingredient declares', async () => {
    const generated = await photo({ sourceType: 'trainedAlgorithmicMedia' })
    const opened = await photo({ isOpened: true, ingredients: [{ bytes: generated, mime: 'image/jpeg' }] })
    const signed = await photo({ isOpened: true, ingredients: [{ bytes: opened, mime: 'image/jpeg' }] })
    const facts = await read(signed)
    expect(advisoriesOf(facts)).toMatchObject([
      {
        evidence: {
          ai_declared: true,
          manifests: 3,
          digital_source_types: [{ manifest: 'ingredient', type: 'trainedAlgorithmicMedia', kind: 'generated' }],
        },
      },
    ])
    expect(judge({ ...factsOf({}), c2pa: facts }).observations).toMatchObject([
      { code: 'declared_ai_generated', evidence: { found: ['c2pa_ingredient_manifest'] } },
    ])
  })
})

describe('the same bytes and lists', () => {
  it('give the same facts at any later time', async () => {
    const part = await photo({ sourceType: 'compositeWithTrainedAlgorithmicMedia' }, stranger)
    const signed = await photo({
      ingredients: [
        { bytes: part, mime: 'image/jpeg' },
        { bytes: await photo({ sourceType: 'digitalCapture' }), mime: 'image/jpeg' },
      ],
    })
    const first = JSON.stringify(await read(signed))
    const other = createC2paReader({ anchors: [signer.root] })
    expect(JSON.stringify(await read(signed, { by: other }))).toBe(first)
    expect(JSON.stringify(await read(signed))).toBe(first)
    await other.close()
  })

  it('are evaluated for the time of the submission, not of the evaluation', async () => {
    const signed = await photo()
    const before = JSON.stringify(await read(signed))
    expect(advisoriesOf(await read(signed, { at: new Date('2060-01-02') }))).toMatchObject([
      {
        code: 'c2pa_invalid',
        evidence: {
          found: 'credential not acceptable',
          codes: ['signingCredential.expired', 'signingCredential.untrusted'],
        },
      },
    ])
    expect(JSON.stringify(await read(signed))).toBe(before)
  })

  it('do not depend on the order of the lists', async () => {
    const signed = await photo()
    const one = createC2paReader({ anchors: [stranger.root, signer.root, signer.root] })
    const facts = await read(signed, { by: one })
    expect(facts).toEqual(await read(signed, { anchors: [stranger.root] }))
    await one.close()
  })
})

describe('the reader sends no request', () => {
  let server: Server
  let address = ''
  const seen: string[] = []
  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(request.url ?? '')
      response.end('no')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => new Promise((done) => server.close(done)))

  it('for a remote manifest, for a manifest that names another, or for a revocation service', async () => {
    const caller = await makeC2paSigner({ ocsp: `${address}/ocsp` })
    const elsewhere = await photo({ remoteUrl: `${address}/elsewhere`, isElsewhere: true }, caller)
    const both = await photo({ remoteUrl: `${address}/both` }, caller)

    // The library sends a request when it is not forbidden: the listener receives it.
    await WasmReader.fromBytes('image/jpeg', elsewhere, '{}').catch(() => {})
    expect(seen).toEqual(['/elsewhere'])

    expect(await read(elsewhere)).toEqual({ state: 'absent', manifestReference: `${address}/elsewhere` })
    expect(advisoriesOf(await read(elsewhere))).toMatchObject([
      { code: 'c2pa_absent', evidence: { found: 'elsewhere, not fetched', reference: `${address}/elsewhere` } },
    ])
    // As if the scan had falsely found a manifest.
    expect(await read(elsewhere, { scan: { state: 'present', size: elsewhere.length } })).toEqual({
      state: 'malformed',
      code: 'RemoteManifestUrl',
    })
    expect(await read(both, { anchors: [caller.root] })).toMatchObject({ manifest: { validationState: 'Trusted' } })
    expect(seen).toEqual(['/elsewhere'])
  })
})

describe('the C2PA reader', () => {
  const ask = (path: string, by: C2paReader) =>
    by.read(path, {
      scan: { state: 'present', size: 100 },
      manifestReference: null,
      anchors: async () => [],
      at: AT,
    })

  it('starts no thread and loads no anchors where there is no manifest', async () => {
    const by = createC2paReader({ thread: new URL('./no-such-thread.ts', import.meta.url) })
    const anchors = () => Promise.reject(new Error('asked for nothing'))
    const facts = async (state: 'absent' | 'unknown_format' | 'too_many_parts') => {
      const reading = await by.read('nowhere', { scan: { state, size: 1 }, manifestReference: null, anchors, at: AT })
      return reading.ok && reading.value
    }
    expect(await facts('absent')).toEqual({ state: 'absent', manifestReference: null })
    expect(await facts('unknown_format')).toEqual({ state: 'not_applicable' })
    expect(await facts('too_many_parts')).toMatchObject({ state: 'unread', why: 'too_many_parts' })
    await by.close()
  })

  it('says of a form of file that only the scan knows that it was not read, not that it is invalid', async () => {
    const box = (type: string, content: Buffer) => {
      const head = Buffer.alloc(8)
      head.writeUInt32BE(8 + content.length)
      head.write(type, 4, 'latin1')
      return Buffer.concat([head, content])
    }
    const manifest = Buffer.concat([Buffer.from('d8fec3d61b0e483c92975828877ec481', 'hex'), Buffer.alloc(64)])
    const video = [box('free', Buffer.alloc(8)), box('ftyp', Buffer.from('isom\0\0\0\0isom')), box('uuid', manifest)]
    const facts = await read(Buffer.concat(video))
    expect(advisoriesOf(facts)).toEqual([])
    expect(judge({ ...factsOf({}), c2pa: facts }).observations).toMatchObject([
      { code: 'c2pa_not_read', evidence: { found: 'unreadable' } },
    ])
  })

  it('does not read what is too large, and says so without a factor', async () => {
    const by = createC2paReader({ thread: MISBEHAVING })
    const scan = { state: 'present', size: MAX_C2PA_BYTES + 1 } as const
    const reading = await by.read('loop', { scan, manifestReference: null, anchors: async () => [], at: AT })
    if (!reading.ok) throw new Error(reading.detail)
    expect(reading.value).toMatchObject({ state: 'unread', why: 'too_large' })
    expect(advisoriesOf(reading.value)).toEqual([])
    expect(judge({ ...factsOf({}), c2pa: reading.value }).observations).toMatchObject([
      { code: 'c2pa_not_read', evidence: { found: 'too_large' } },
    ])
    await by.close()
  })

  it('ends a thread that loops, crashes or exhausts its memory, and continues', async () => {
    const by = createC2paReader({ thread: MISBEHAVING, limitMs: 300 })
    expect(await ask('loop', by)).toMatchObject({ ok: false, code: 'timeout' })
    expect(await ask('throw', by)).toMatchObject({ ok: false, code: 'crashed' })
    expect(await ask('fine', by)).toMatchObject({ ok: true })
    await by.close()
    await expect(ask('fine', by)).resolves.toMatchObject({ ok: false, code: 'closed' })
  })

  it('reports a missing file, which raises no factor', async () => {
    expect(await ask(join(folder, 'nobody'), reader)).toMatchObject({ ok: false, code: 'missing' })
  })
})

it('a WebAssembly module gets no more memory than its limit', async () => {
  // (module (memory (export "m") 1))
  const bytes = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 0, 1, 7, 5, 1, 1, 109, 2, 0)
  const grow = async (module: Uint8Array) => {
    // The types that Node ships lack these.
    const { WebAssembly } = globalThis as unknown as { WebAssembly: { instantiate(bytes: Uint8Array): Promise<never> } }
    const made: { instance: { exports: { m: { grow(pages: number): number } } } } =
      await WebAssembly.instantiate(module)
    return made.instance.exports.m.grow(299)
  }
  expect(await grow(bytes)).toBe(1)
  expect(await grow(limitMemory(bytes, 300))).toBe(1)
  await expect(grow(limitMemory(bytes, 299))).rejects.toThrow(RangeError)
  expect(() => limitMemory(bytes.subarray(0, 8), 300)).toThrow('no memory')
  expect(() => limitMemory(bytes, 0)).toThrow('needs more')
})

describe('a trust list', () => {
  const file = async (text: string) => {
    const path = join(folder, 'list.pem')
    await writeFile(path, text)
    return path
  }
  const pem = (der: Buffer) => `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`

  it('is read from PEM, with the text that tools write around it', async () => {
    const path = await file(`# list\n${pem(signer.root)}subject=CN\n${pem(stranger.root)}`)
    expect(readTrustAnchors(path)).toEqual([signer.root, stranger.root])
  })

  it.each([
    ['nothing', '', 'without a PEM certificate'],
    ['a key', '-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----', 'holds a private key'],
    ['no certificate', pem(Buffer.from('no')), 'certificate 1 is not a certificate'],
  ])('of %s is refused', async (_, text, sentence) => {
    const path = await file(text)
    expect(() => readTrustAnchors(path)).toThrow(sentence)
  })

  it('that is unreadable prevents a process from starting, with the reason', async () => {
    const env = {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      MASTER_KEY: Buffer.alloc(32).toString('base64'),
      BLOB_STORE: 'disk:none',
    }
    const path = await file(pem(signer.root))
    expect(readConfig({ ...env, C2PA_TRUST_ANCHORS: path }).C2PA_TRUST_ANCHORS).toBe(path)
    const missing = join(folder, 'nobody.pem')
    expect(() => readConfig({ ...env, C2PA_TRUST_ANCHORS: missing })).toThrow(
      'C2PA_TRUST_ANCHORS: names no file that can be read',
    )
  })

  it('that does not exist is refused', () => {
    expect(() => readTrustAnchors(join(folder, 'nobody.pem'))).toThrow('names no file that can be read')
  })
})

interface Reading {
  by?: C2paReader
  anchors?: readonly Buffer[]
  at?: Date
  scan?: { state: 'present'; size: number }
}

let count = 0

async function read(bytes: Buffer, { by = reader, anchors = [], at = AT, scan }: Reading = {}): Promise<C2paFacts> {
  count += 1
  const path = join(folder, `file-${count}`)
  await writeFile(path, bytes)
  const inspection = await inspector.inspect(path)
  if (!inspection.ok) throw new Error(inspection.detail)
  const { c2pa, declared } = inspection.value
  const { manifestReference } = declared
  const reading = await by.read(path, { scan: scan ?? c2pa, manifestReference, anchors: async () => anchors, at })
  if (!reading.ok) throw new Error(`${reading.code}: ${reading.detail}`)
  return reading.value
}

async function photo(manifest: ManifestOptions = {}, by = signer): Promise<Buffer> {
  return by.sign(await makePicture(), 'image/jpeg', manifest)
}

function advisoriesOf(c2pa: C2paFacts) {
  return judge({ ...factsOf({}), c2pa }).advisoryFactors
}
