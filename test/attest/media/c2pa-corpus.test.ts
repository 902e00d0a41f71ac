import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { judge } from '#src/attest/factors/judge.ts'
import { createC2paReader } from '#src/attest/media/c2pa.ts'
import type { C2paFacts } from '#src/attest/media/c2pa-facts.ts'
import { readTrustAnchors } from '#src/attest/media/c2pa-trust.ts'
import type { DeclaredFacts } from '#src/attest/media/declared.ts'
import { createInspector } from '#src/attest/media/inspector.ts'
import { factsOf } from '../factors/vectors.ts'

const corpus = process.env.CORPUS
const folder = corpus && existsSync(join(corpus, 'c2pa')) ? corpus : undefined
const AT = new Date('2026-06-01T00:00:00Z')
const valid = (codes: string[], ingredients: string[], types: string[]) => ({
  code: 'c2pa_present_valid',
  evidence: {
    found: 'valid',
    trusted: codes.length === 0 && ingredients.length === 0,
    codes,
    ingredient_codes: ingredients,
    digital_source_types: types.map((type) => ({ type })),
  },
})
const invalid = (found: string, state: string, codes: string[], ingredients: string[] = []) => ({
  code: 'c2pa_invalid',
  evidence: { found, validation_state: state, codes, ingredient_codes: ingredients },
})
const UNTRUSTED = ['signingCredential.untrusted']

// With test-roots.pem as the list.
const EXPECTED: Record<string, { code: string; evidence: object }> = {
  'c2pa/C.jpg': valid([], [], ['algorithmicMedia']),
  'c2pa/CA.jpg': valid([], [], []),
  'c2pa/CIE-sig-CA.jpg': invalid('broken ingredient', 'Trusted', [], ['claimSignature.mismatch']),
  'c2pa/E-sig-CA.jpg': invalid('bad signature', 'Invalid', ['claimSignature.mismatch']),
  'c2pa/XCA.jpg': invalid('changed after signing', 'Invalid', ['assertion.dataHash.mismatch']),
  'c2pa/libpng-test_with_url.png': {
    code: 'c2pa_absent',
    evidence: { found: 'elsewhere, not fetched', reference: 'http://localhost:5000/libpng-test.c2pa' },
  },
  'c2pa/no_manifest.jpg': { code: 'c2pa_absent', evidence: { found: 'no longer there' } },
  'c2pa/ocsp.jpg': valid(UNTRUSTED, UNTRUSTED, [
    'compositeWithTrainedAlgorithmicMedia',
    'compositeWithTrainedAlgorithmicMedia',
    'trainedAlgorithmicMedia',
  ]),
  'c2pa/sample1.avif': { code: 'c2pa_absent', evidence: { found: 'absent' } },
  'c2pa/sample1.heic': { code: 'c2pa_absent', evidence: { found: 'absent' } },
  'c2pa/sample1.webp': { code: 'c2pa_absent', evidence: { found: 'absent' } },
  'c2pa/video1.mp4': valid([], UNTRUSTED, []),
  // Signed without a time stamp by a certificate that had expired at AT.
  'ai-images/ChatGPT_Image.png': invalid(
    'credential not acceptable',
    'Invalid',
    ['signingCredential.expired', 'signingCredential.untrusted'],
    UNTRUSTED,
  ),
}

const GENERATORS: Record<string, [string, string]> = {
  'automatic1111_cropped.jpg': ['exif', 'AUTOMATIC1111'],
  'automatic1111_cropped.png': ['png_text', 'AUTOMATIC1111'],
  'img2img_cropped.png': ['png_text', 'ComfyUI'],
  'invokeai_dream1.png': ['png_text', 'InvokeAI'],
}

describe.skipIf(folder === undefined)(
  `real files${folder === undefined ? ' (skipped: CORPUS is not set)' : ''}`,
  () => {
    const inspector = createInspector()
    const anchors = folder === undefined ? [] : readTrustAnchors(join(folder, 'c2pa/test-roots.pem'))
    const reader = createC2paReader({ anchors })
    afterAll(async () => {
      await reader.close()
      await inspector.close()
    })

    const read = async (name: string, at = AT): Promise<{ c2pa: C2paFacts; declared: DeclaredFacts }> => {
      const path = join(folder ?? '', name)
      const inspection = await inspector.inspect(path)
      if (!inspection.ok) throw new Error(inspection.detail)
      const { c2pa: scan, declared } = inspection.value
      const { manifestReference } = declared
      const reading = await reader.read(path, { scan, manifestReference, anchors: async () => [], at })
      if (!reading.ok) throw new Error(reading.detail)
      return { c2pa: reading.value, declared }
    }

    it.each(Object.keys(EXPECTED))('%s', async (name) => {
      const facts = await read(name)
      const { advisoryFactors } = judge({ ...factsOf({}), ...facts })
      expect(advisoryFactors).toMatchObject([EXPECTED[name]])
      expect(JSON.stringify(await read(name))).toBe(JSON.stringify(facts))
    })

    it('each have an expectation', () => {
      const files = readdirSync(join(folder ?? '', 'c2pa')).filter((name) => !name.endsWith('.pem'))
      expect(Object.keys(EXPECTED).filter((name) => name.startsWith('c2pa/'))).toEqual(
        files.sort().map((name) => `c2pa/${name}`),
      )
    })

    it('declare an AI also where only an ingredient does', async () => {
      const facts = await read('ai-images/ChatGPT_Image.png', new Date('2025-06-01'))
      const { advisoryFactors, observations } = judge({ ...factsOf({}), ...facts })
      expect(advisoryFactors).toMatchObject([
        { code: 'c2pa_present_valid', evidence: { ai_declared: true, trusted: false } },
      ])
      expect(observations).toMatchObject([
        { code: 'declared_ai_generated', evidence: { found: ['c2pa_ingredient_manifest'] } },
      ])
    })

    it.each(Object.entries(GENERATORS))('%s is recognized by the words it writes', async (name, [where, generator]) => {
      const facts = await read(`ai-images/${name}`)
      const { observations } = judge({ ...factsOf({}), ...facts })
      expect(observations).toMatchObject([
        { code: 'declared_ai_generated', evidence: { found: [where], declarations: expect.any(Array) } },
      ])
      expect(facts.declared.generators.map((trace) => trace.generator)).toContain(generator)
      expect(JSON.stringify(observations)).not.toMatch(/duck|woman|seed/)
    })

    it('of the public trust list are 30 anchors', () => {
      expect(readTrustAnchors(join(folder ?? '', 'c2pa/trust-list.pem'))).toHaveLength(30)
    })
  },
)
