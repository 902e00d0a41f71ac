// Makes c2pa-seeds.json anew: pictures with manifests, stored so that a case stays the same. Deflated, because
// manifests are half padding.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { makeC2paSigner, makePicture } from '../test/attest/media/c2pa-signing.ts'

const FORMATS = ['jpeg', 'png', 'webp', 'avif', 'tiff'] as const
const signer = await makeC2paSigner()
const signed = await Promise.all(
  FORMATS.map(async (format) =>
    signer.sign(await makePicture(format), `image/${format}`, { sourceType: 'trainedAlgorithmicMedia' }),
  ),
)
const [first = Buffer.alloc(0)] = signed
const nested = await signer.sign(first, 'image/jpeg', { ingredients: [{ bytes: first, mime: 'image/jpeg' }] })
const seeds = {
  root: signer.root.toString('base64'),
  files: [...signed, nested].map((file) => deflateRawSync(file, { level: 9 }).toString('base64')),
}
writeFileSync(join(import.meta.dirname, 'c2pa-seeds.json'), `${JSON.stringify(seeds, null, 2)}\n`)
