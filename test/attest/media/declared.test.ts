import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import type { C2paFacts } from '#src/attest/media/c2pa-facts.ts'
import { readStore } from '#src/attest/media/c2pa-facts.ts'
import { type DeclaredFacts, declaredProvenance } from '#src/attest/media/declared.ts'
import { readImageFacts } from '#src/attest/media/exif.ts'
import { kindOfSource } from '#src/attest/media/source-type.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { chunk, profileText, RAW_PROFILES, rawProfile, withChunks } from './png.ts'
import { MAKE, MODEL, SOFTWARE, structure, text, withBlock } from './structure.ts'

const CV = 'http://cv.iptc.org/newscodes/digitalsourcetype/'
const blank = () => sharp({ create: { width: 16, height: 12, channels: 3, background: '#333' } })
const JPEG = await blank().jpeg().toBuffer()
const PNG = await blank().png().toBuffer()

describe('text chunks of a PNG', () => {
  it.each([
    ['AUTOMATIC1111', { parameters: 'a duck\nNegative prompt: b\nSteps: 20, Sampler: Euler a, Seed: 1' }],
    ['Fooocus', { parameters: '{"seed": 1}', fooocus_scheme: 'fooocus' }],
    ['SwarmUI', { parameters: '{"sui_image_params": {"prompt": "a duck"}}' }],
    ['ComfyUI', { prompt: '{"3": {"inputs": {}, "class_type": "KSampler"}}' }],
    ['ComfyUI', { workflow: '{"nodes": [], "links": []}' }],
    ['InvokeAI', { invokeai_metadata: '{}' }],
    ['InvokeAI', { 'sd-metadata': '{}' }],
    ['InvokeAI', { Dream: '"a duck" -s 50' }],
    ['NovelAI', { Title: 'NovelAI generated image' }],
    ['NovelAI', { Title: 'AI generated image' }],
    ['NovelAI', { Software: 'NovelAI' }],
    ['Stable Diffusion', { Source: 'Stable Diffusion 1D44365E' }],
    ['Midjourney', { Description: 'a duck --v 6 Job ID: 3f2a5d5e-0c1e-4d3a-9a57-1b2c3d4e5f60' }],
  ])('identify %s by %j', async (generator, texts) => {
    const { declared } = await readImageFacts(withTexts(texts))
    expect(declared.generators.map((trace) => trace.generator)).toContain(generator)
    const [observation, ...others] = declaredProvenance({ declared })
    expect(others).toEqual([])
    expect(observation).toMatchObject({
      code: 'declared_ai_generated',
      evidence: { found: ['png_text'], declarations: expect.arrayContaining([expect.objectContaining({ generator })]) },
    })
    // Prompts stay in the media.
    expect(JSON.stringify(observation)).not.toContain('duck')
  })

  it.each([
    { parameters: 'the parameters of a survey' },
    { prompt: 'write here' },
    { workflow: 'approved' },
    { Title: 'An AI conference' },
    { Software: 'GIMP 2.10' },
    { Description: 'Job ID: 17' },
    { Comment: 'Steps: 20, Sampler: Euler' },
  ])('of other programs identify nothing: %j', async (texts) => {
    const { declared } = await readImageFacts(withTexts(texts))
    expect(declaredProvenance({ declared })).toEqual([])
  })

  it.each(RAW_PROFILES)('in %s are found before the picture and behind it', async (kind) => {
    const packet = `<x xmlns:Iptc4xmpExt="x" Iptc4xmpExt:DigitalSourceType="${CV}trainedAlgorithmicMedia"/>`
    const app1 = Buffer.from(`http://ns.adobe.com/xap/1.0/\0${packet}`)
    const parameters = 'a duck\nNegative prompt: b\nSteps: 20, Sampler: Euler a, Seed: 1'
    for (const own of [
      rawProfile(kind, parameters, 'parameters'),
      rawProfile(kind, packet, 'XML:com.adobe.xmp'),
      rawProfile(kind, profileText('xmp', Buffer.from(packet)), 'Raw profile type xmp'),
      rawProfile(kind, profileText('app1', app1), 'Raw profile type APP1'),
    ]) {
      for (const file of [{ before: [own] }, { after: [own] }]) {
        const { declared, exif } = await readImageFacts(withChunks(PNG, file))
        expect(declaredProvenance({ declared })).toMatchObject([{ code: 'declared_ai_generated' }])
        expect(exif).toEqual({ state: 'missing' })
      }
    }
  })

  it('that are damaged or too long are no error', async () => {
    const damaged = chunk('zTXt', Buffer.from('Dream\0\0not deflated'))
    const { declared } = await readImageFacts(withChunks(PNG, { after: [damaged, chunk('iTXt', Buffer.from('x\0'))] }))
    expect(declared.generators).toMatchObject([{ field: 'Dream', generator: 'InvokeAI' }])
  })

  it('are bounded in number and length', async () => {
    const many = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`k${index}`, 'x'.repeat(50_000)]))
    const { declared } = await readImageFacts(withTexts({ ...many, Dream: 'x'.repeat(200_000) }))
    expect(JSON.stringify(declaredProvenance({ declared })).length).toBeLessThan(4_000)
  })
})

describe('EXIF', () => {
  const comment = (code: string, body: Buffer) => ({
    tag: 0x9286,
    type: 7,
    value: Buffer.concat([Buffer.from(code.padEnd(8, '\0')), body]),
  })
  const PARAMETERS = 'a duck\nSteps: 20, Sampler: Euler, Seed: 1'
  it.each([
    ['ASCII', comment('ASCII', Buffer.from(PARAMETERS))],
    ['ASCII, declared as text', { ...comment('ASCII', Buffer.from(PARAMETERS)), type: 2 }],
    ['UTF-16, big-endian', comment('UNICODE', Buffer.from(PARAMETERS, 'utf16le').swap16())],
    ['UTF-16, little-endian', comment('UNICODE', Buffer.from(PARAMETERS, 'utf16le'))],
  ])('identifies a generator by a comment in %s', async (_, entry) => {
    for (const order of ['II', 'MM'] as const) {
      const { declared, exif } = await readImageFacts(withBlock(JPEG, structure({ ifd0: [], exif: [entry] }, order)))
      expect(declared.generators).toEqual([
        { where: 'exif', field: 'UserComment', value: null, generator: 'AUTOMATIC1111' },
      ])
      expect(exif.state).toBe('read')
    }
  })

  it.each([
    [[text(SOFTWARE, 'NovelAI')], 'NovelAI', 'NovelAI'],
    [[text(MAKE, 'workflow:{"nodes": []}')], 'ComfyUI', null],
    [[text(MODEL, 'prompt:{"3": {}}')], 'ComfyUI', null],
  ])('identifies a generator by %j', async (ifd0, generator, value) => {
    const { declared } = await readImageFacts(withBlock(JPEG, structure({ ifd0 })))
    expect(declared.generators).toMatchObject([{ where: 'exif', generator, value }])
  })

  it('of a camera identifies nothing; neither does a comment with a wrong length', async () => {
    const lie = { ...comment('ASCII', Buffer.from(PARAMETERS)), count: 0xffff_ff00 }
    const block = structure({ ifd0: [text(MAKE, 'Acme'), text(SOFTWARE, 'Camera 2.1')], exif: [lie] })
    const { declared, exif } = await readImageFacts(withBlock(JPEG, block))
    expect(declared).toEqual({ sourceTypes: [], generators: [], manifestReference: null })
    expect(exif).toMatchObject({ state: 'read', make: 'Acme' })
  })
})

describe('XMP', () => {
  const packet = (inside: string) =>
    `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
     xmlns:i="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"><rdf:Description rdf:about="" ${inside}</rdf:RDF></x:xmpmeta>`
  const readXmp = async (inside: string) =>
    (await readImageFacts(await blank().withXmp(packet(inside)).webp().toBuffer())).declared

  it.each([
    ['an attribute', `i:DigitalSourceType="${CV}trainedAlgorithmicMedia"/>`],
    ['an element', `><i:DigitalSourceType>${CV}trainedAlgorithmicMedia</i:DigitalSourceType></rdf:Description>`],
    ['a resource', `><i:DigitalSourceType rdf:resource='${CV}trainedAlgorithmicMedia'/></rdf:Description>`],
    ['a bare name', 'i:DigitalSourceType="trainedAlgorithmicMedia"/>'],
    ['a code', 'i:DigitalSourceType="digsrctype:trainedAlgorithmicMedia"/>'],
    ['a URL with a slash at its end', `i:DigitalSourceType="${CV}trainedAlgorithmicMedia/"/>`],
    ['a URL of https', `i:DigitalSourceType="${CV.replace('http', 'https')}trainedAlgorithmicMedia"/>`],
    ['a fragment', `i:DigitalSourceType="${CV.replace(/.$/, '#')}trainedAlgorithmicMedia"/>`],
    ['other letters', `i:DigitalSourceType="${CV}TRAINEDALGORITHMICMEDIA"/>`],
    ['a property of the name that was published first', `i:DigitalSourceFileType="${CV}trainedAlgorithmicMedia"/>`],
    [
      'an element on lines of its own',
      `><i:DigitalSourceType>\n  ${CV}trainedAlgorithmicMedia\n</i:DigitalSourceType></rdf:Description>`,
    ],
    [
      'an element with an attribute',
      `><i:DigitalSourceType xml:lang="en">${CV}trainedAlgorithmicMedia</i:DigitalSourceType></rdf:Description>`,
    ],
    [
      'an element of a default namespace',
      `><DigitalSourceType xmlns="x">${CV}trainedAlgorithmicMedia</DigitalSourceType></rdf:Description>`,
    ],
    [
      'a list',
      `><i:DigitalSourceType><rdf:Bag><rdf:li>${CV}trainedAlgorithmicMedia</rdf:li></rdf:Bag></i:DigitalSourceType></rdf:Description>`,
    ],
    [
      'a resource in a list',
      `><i:DigitalSourceType><rdf:Seq><rdf:li rdf:resource="${CV}trainedAlgorithmicMedia"/></rdf:Seq></i:DigitalSourceType></rdf:Description>`,
    ],
  ])('states a source type as %s', async (_, inside) => {
    expect(declaredProvenance({ declared: await readXmp(inside) })).toMatchObject([
      {
        code: 'declared_ai_generated',
        evidence: { declarations: [{ where: 'xmp', value: 'trainedAlgorithmicMedia' }], declaration_count: 1 },
      },
    ])
  })

  it.each([
    [
      'in a list',
      `><i:DigitalSourceType><rdf:Bag><rdf:li>${CV}digitalCapture</rdf:li><rdf:li>digsrctype:trainedAlgorithmicMedia</rdf:li></rdf:Bag></i:DigitalSourceType></rdf:Description>`,
    ],
    [
      'in two properties',
      `i:DigitalSourceType="${CV}digitalCapture"><i:DigitalSourceType>trainedAlgorithmicMedia</i:DigitalSourceType></rdf:Description>`,
    ],
  ])('states several source types %s, and each counts', async (_, inside) => {
    const codes = declaredProvenance({ declared: await readXmp(inside) }).map(({ code }) => code)
    expect(codes).toEqual(['declared_ai_generated', 'declared_capture'])
  })

  it('states nothing by what stands behind the property or in another one', async () => {
    const others = [
      `><i:DigitalSourceType></i:DigitalSourceType><i:Other>${CV}trainedAlgorithmicMedia</i:Other></rdf:Description>`,
      `i:NotDigitalSourceType="${CV}trainedAlgorithmicMedia"/>`,
      `i:DigitalSourceTypes="${CV}trainedAlgorithmicMedia"/>`,
      `><i:Note>a DigitalSourceType="${CV}trainedAlgorithmicMedia"</i:Note></rdf:Description>`,
    ]
    for (const inside of others) expect((await readXmp(inside)).sourceTypes, inside).toEqual([])
  })

  it('names a program, and the place of a manifest', async () => {
    const declared = await readXmp(`i:CreatorTool="Midjourney 6" i:provenance="https://example.com/a?b=1"/>`)
    expect(declared).toMatchObject({
      generators: [{ where: 'xmp', field: 'CreatorTool', value: 'Midjourney 6', generator: 'Midjourney' }],
      manifestReference: 'https://example.com/a?b=1',
    })
  })

  it('is bounded and is read quickly, whatever it contains', async () => {
    for (const part of [
      '<i:DigitalSourceType =',
      '<i:DigitalSourceType>',
      ' i:DigitalSourceType',
      '<i:DigitalSourceType a ',
    ]) {
      const inside = `/>${part.repeat(30_000)}${'a:'.repeat(50_000)}`
      const startedAt = process.threadCpuUsage()
      const declared = await readXmp(inside)
      expect(process.threadCpuUsage(startedAt).user / 1_000).toBeLessThan(2_000)
      expect(declared.sourceTypes.length).toBeLessThanOrEqual(16)
    }
  })
})

const CORPUS = process.env.CORPUS ?? ''
const REPORTS = join(CORPUS, 'reports/iptc-source-type')
const reported = CORPUS === '' ? [] : readdirSync(REPORTS).filter((name) => name.endsWith('.jpg'))

describe.skipIf(CORPUS === '')(`spellings of programs (CORPUS: ${reported.length} files)`, () => {
  it.each(reported)('%s', async (name) => {
    const { declared } = await readImageFacts(join(REPORTS, name))
    const code = name === 'https-composite.jpg' ? 'declared_ai_partly_generated' : 'declared_ai_generated'
    const [observation, ...others] = declaredProvenance({ declared })
    expect([observation?.code, others]).toEqual([code, []])
    // A program that names itself states no source type.
    expect(declared.sourceTypes.length > 0).toBe(name !== 'only-credit-google-ai.jpg')
  })
})

describe('observations', () => {
  const manifest = readStore({ validation_state: 'Valid' }, { certificates: 0, sha256: '' })
  const c2paOf = (sources: { action: string | null; type: string }[]): C2paFacts => {
    if (manifest === undefined) throw new Error('a store with a state is one')
    return { state: 'read', manifest: { ...manifest, sources: sources.map((one) => ({ manifest: 'active', ...one })) } }
  }
  const codes = (facts: { c2pa?: C2paFacts; declared?: DeclaredFacts }) =>
    declaredProvenance(facts).map(({ code }) => code)

  it.each([
    ['c2pa.created', 'trainedAlgorithmicMedia', ['declared_ai_generated'], 'generated'],
    ['c2pa.created', 'compositeWithTrainedAlgorithmicMedia', ['declared_ai_partly_generated'], 'partly_generated'],
    ['c2pa.created', 'composite', [], 'possibly_generated'],
    ['c2pa.created', 'screenCapture', ['declared_not_captured'], 'screen'],
    ['c2pa.created', 'digitalCreation', ['declared_not_captured'], 'created'],
    ['c2pa.created', 'algorithmicMedia', ['declared_not_captured'], 'created'],
    ['c2pa.created', 'digitalCapture', ['declared_capture'], 'captured'],
    ['c2pa.created', 'computationalCapture', ['declared_capture'], 'captured'],
    ['c2pa.created', 'compositeCapture', ['declared_capture'], 'stitched'],
    ['c2pa.created', 'toString', [], 'other'],
    ['c2pa.edited', 'trainedAlgorithmicMedia', ['declared_ai_partly_generated'], 'partly_generated'],
    ['c2pa.placed', 'compositeSynthetic', ['declared_ai_partly_generated'], 'partly_generated'],
    ['c2pa.edited', 'composite', [], 'possibly_generated'],
    ['c2pa.edited', 'digitalCapture', [], 'other'],
    [null, 'trainedAlgorithmicMedia', ['declared_ai_generated'], 'generated'],
  ] as const)('%s with %s: %j', (action, name, expected, kind) => {
    for (const type of [`${CV}${name}`, `https://cv.iptc.org/newscodes/digitalsourcetype/${name}?lang=en`, name]) {
      expect(codes({ c2pa: c2paOf([{ action, type }]) })).toEqual(expected)
      expect(kindOfSource(type, action)).toBe(kind)
    }
  })

  it('include the blank canvas of C2PA', () => {
    expect(kindOfSource('http://c2pa.org/digitalsourcetype/empty', 'c2pa.created')).toBe('blank')
  })

  it('occur once for each code, in a fixed order, as JSON that can be signed', () => {
    const c2pa = c2paOf([
      { action: 'c2pa.created', type: `${CV}digitalCapture` },
      ...Array.from({ length: 40 }, () => ({ action: 'c2pa.edited\u202E', type: `${CV}compositeSynthetic` })),
    ])
    const declared: DeclaredFacts = {
      sourceTypes: [{ where: 'xmp', field: 'DigitalSourceType', value: `${CV}print` }],
      generators: [{ where: 'exif', field: 'Software', value: `NovelAI${'\uD83D'.repeat(900)}`, generator: 'NovelAI' }],
      manifestReference: null,
    }
    const observations = declaredProvenance({ c2pa, declared })
    expect(observations.map(({ code }) => code)).toEqual([
      'declared_ai_generated',
      'declared_ai_partly_generated',
      'declared_not_captured',
      'declared_capture',
    ])
    expect(observations[1]?.evidence.declaration_count).toBe(40)
    expect(JSON.parse(canonicalize(observations.map(({ evidence }) => evidence)))).toHaveLength(4)
    expect(JSON.stringify(observations).length).toBeLessThan(8_000)
  })

  it('are empty when nothing was examined or nothing is declared', () => {
    expect(codes({})).toEqual([])
    expect(codes({ c2pa: { state: 'absent', manifestReference: null } })).toEqual([])
  })
})

describe('a manifest store', () => {
  const LIST = { certificates: 0, sha256: '' }
  it.each([null, [], 'Trusted', {}, { validation_state: 'Fine' }, { validation_state: ['Trusted'] }])(
    'is refused when it is %j',
    (store) => {
      expect(readStore(store, LIST)).toBeUndefined()
    },
  )

  it('is reduced in size, whatever it contains', () => {
    const status = Array.from({ length: 5_000 }, (_, index) => ({
      code: `code.${index % 900}\u0000${'x'.repeat(900)}`,
    }))
    const actions = Array.from({ length: 5_000 }, () => ({
      action: 'a'.repeat(900),
      digitalSourceType: 'b'.repeat(900),
    }))
    const ingredient = { validation_status: status, validation_results: { activeManifest: { failure: status } } }
    const made = readStore(
      JSON.parse(
        JSON.stringify({
          validation_state: 'Valid',
          active_manifest: '__proto__',
          manifests: {
            a: { assertions: [{ label: 'c2pa.actions', data: { actions } }], ingredients: [ingredient, null, 7] },
            b: {
              assertions: [null, { label: 7 }, { label: 'c2pa.actions.v2', data: { actions: 'all' } }],
              ingredients: {},
            },
          },
          validation_results: {
            activeManifest: { failure: status },
            ingredientDeltas: [null, { validationDeltas: [] }],
          },
        }),
      ),
      LIST,
    )
    expect(made).toMatchObject({ manifestCount: 2, ingredientCount: 3, bareIngredientCount: 3, sourceCount: 5_000 })
    expect([made?.failures.length, made?.ingredientFailures.length, made?.sources.length]).toEqual([32, 32, 32])
    expect(JSON.stringify(made).length).toBeLessThan(50_000)
  })
})

/** The PNG with these tEXt chunks behind its header. */
function withTexts(texts: Record<string, string>): Buffer {
  const chunks = Object.entries(texts).map(([keyword, value]) => {
    const body = Buffer.concat([
      Buffer.from('tEXt'),
      Buffer.from(keyword),
      Buffer.alloc(1),
      Buffer.from(value, 'latin1'),
    ])
    const length = Buffer.alloc(4)
    length.writeUInt32BE(body.length - 4)
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  })
  return Buffer.concat([PNG.subarray(0, 33), ...chunks, PNG.subarray(33)])
}
