import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderPhoto } from '../../capture-kit/photo.ts'
import { freePort } from '../../commands/ports.ts'
import type { SignatureInput } from '../../tools/vectors/answers/service-webhooks.ts'
import { readVectors } from '../../tools/vectors/file.ts'
import { type Guide, missingTools, openGuide } from '../support/guide.ts'
import { type System, startSystem } from '../support/system.ts'

const TOOLS = ['bash', 'curl', 'openssl', 'python3']

describe.skipIf(missingTools(TOOLS).length > 0)(
  `the guide (skipped where one of ${TOOLS} is missing)`,
  { timeout: 240_000 },
  () => {
    let system: System
    let guide: Guide

    beforeAll(async () => {
      system = await startSystem({ engine: 'postgres', only: ['web', 'dispatch', 'attest', 'compare', 'deliver'] })
      guide = openGuide(['docs/attest/integrate.md', 'docs/attest/events-and-batches.md'], {
        'http://localhost:8080': system.baseUrl,
        svc_test_your_own_key: system.key,
        '4000': String(await freePort()),
      })
      const photo = await renderPhoto({ seed: 1, width: 640, height: 480, exif: null })
      writeFileSync(join(guide.folder, 'photo.jpg'), photo)
    })
    afterAll(async () => {
      guide?.close()
      await system?.close()
    })

    it('runs from the first block to the last, and prints what it shows', async () => {
      await guide.run()
    })

    it('signs the bytes that it shows', async () => {
      const [bundle] = guide.blocks.filter(({ language }) => language === 'json')
      const [canonical] = guide.blocks.filter(({ language }) => language === 'canonical')
      const cases = acceptedVectors()
      const inputs = [{ json: bundle?.text ?? '', canonical: canonical?.text.trimEnd() ?? '' }, ...cases]
      const script = `import { canonicalize } from './sign.mts'
      const inputs = JSON.parse(await new Response(process.stdin).text())
      console.log(JSON.stringify(inputs.map((json) => canonicalize(JSON.parse(json)))))`
      const answer = guide.pipe(
        'node',
        ['--input-type=module', '-e', script],
        inputs.map(({ json }) => json),
      )
      expect(answer).toEqual(inputs.map(({ canonical: expected }) => expected))
    })

    it('shows the member signature in the form in which its program sends it', () => {
      const [, shown] = guide.blocks.filter(({ language }) => language === 'json')
      const { signature }: { signature: object } = JSON.parse(shown?.text ?? '')
      const sent = JSON.parse(readFileSync(join(guide.folder, 'body.json'), 'utf8')).signature
      const shapeOf = (value: object) => Object.entries(value).map(([name, text]) => [name, String(text).length])
      expect(shapeOf(sent)).toEqual(shapeOf(signature))
    })

    it('verifies signatures as the vectors require, in both languages', () => {
      const cases = signatureCases()
      expect(cases.length).toBeGreaterThan(20)
      const expected = cases.map(({ valid }) => valid)
      const script = `import { isGenuine } from './webhook.mts'
      const cases = JSON.parse(await new Response(process.stdin).text())
      console.log(JSON.stringify(cases.map((c) => isGenuine(Buffer.from(c.body, 'base64'), c.header, c.secret, c.now))))`
      expect(guide.pipe('node', ['--input-type=module', '-e', script], cases)).toEqual(expected)
      const python = [
        'import base64, json, sys',
        'from webhook import is_genuine',
        'cases = json.load(sys.stdin)',
        'print(json.dumps([is_genuine(base64.b64decode(c["body"]), c["header"], c["secret"], c["now"]) for c in cases]))',
      ].join('\n')
      expect(guide.pipe('python3', ['-c', python], cases)).toEqual(expected)
    })

    it('contains TypeScript that compiles', async () => {
      expect(await guide.types()).toBe('')
    })
  },
)

function acceptedVectors(): { json: string; canonical: string }[] {
  const { cases } = readVectors<{ json: string }, { canonical: string }>('canonical/accepted')
  return cases.map(({ input, expect: { canonical } }) => ({ json: input.json, canonical }))
}

interface SignatureCase {
  body: string
  header: string
  secret: string
  now: number
  valid: boolean
}

// The guide's verifiers know one secret and one tolerance, and leave the body to its parser.
function signatureCases(): SignatureCase[] {
  const { cases } = readVectors<SignatureInput, { valid?: boolean; reason?: string | null }>('webhooks/signatures')
  return cases.flatMap(({ input, expect: { valid, reason } }) => {
    const { headers, secrets, tolerance, now } = input
    const header = headers['service-signature']
    const [secret = ''] = secrets
    const isOnce = Object.keys(headers).filter((name) => name.toLowerCase() === 'service-signature').length === 1
    const isKnown = secrets.length === 1 && secret !== '' && isOnce && tolerance === undefined
    if (!isKnown || typeof header !== 'string' || valid === undefined || reason === 'invalid_json') return []
    const body = input.body_base64 ?? Buffer.from(String(input.body)).toString('base64')
    return [{ body, header, secret, now, valid }]
  })
}
