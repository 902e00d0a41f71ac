// Makes c2pa-seeds.json anew: pictures with manifests, stored so that a case stays the same. Deflated, because
// manifests are half padding.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { makeC2paSigner, makePicture } from '../test/attest/media/c2pa-signing.ts'
import { makeTimeStampAuthority } from '../test/attest/media/time-stamp.ts'

const FORMATS = ['jpeg', 'png', 'webp', 'avif', 'tiff'] as const
const signer = await makeC2paSigner()
const signed = await Promise.all(
  FORMATS.map(async (format) =>
    signer.sign(await makePicture(format), `image/${format}`, { sourceType: 'trainedAlgorithmicMedia' }),
  ),
)
const [first = Buffer.alloc(0)] = signed
const nested = await signer.sign(first, 'image/jpeg', { ingredients: [{ bytes: first, mime: 'image/jpeg' }] })
// Their certificate had ended at the time of the claim, and what the list of signers or of authorities does not name.
const month = { from: '2026-03-01T00:00:00Z', until: '2026-03-31T00:00:00Z' }
const at = new Date('2026-03-10T00:00:00Z')
const authority = await makeTimeStampAuthority({ at })
const stranger = await makeTimeStampAuthority({ at })
const jpeg = await makePicture('jpeg')
const known = await makeC2paSigner({ leafValidity: month, stampedBy: stranger })
const unknown = await makeC2paSigner({ leafValidity: month, stampedBy: authority })
const unstamped = await makeC2paSigner({ leafValidity: month })
const untrusted = await Promise.all([known, unknown, unstamped].map((one) => one.sign(jpeg, 'image/jpeg')))
const packed = (files: readonly Buffer[]) => files.map((file) => deflateRawSync(file, { level: 9 }).toString('base64'))
const seeds = {
  root: signer.root.toString('base64'),
  files: packed([...signed, nested]),
  // One is signed by a listed signer and stamped by an unlisted authority, one the other way round, and one by a listed signer
  // without a time stamp.
  endedRoots: [known, unstamped].map(({ root }) => root.toString('base64')),
  authority: authority.root.toString('base64'),
  untrusted: packed(untrusted),
}
writeFileSync(join(import.meta.dirname, 'c2pa-seeds.json'), `${JSON.stringify(seeds, null, 2)}\n`)
