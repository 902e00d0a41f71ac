// The inputs of the mutations: valid inputs of every kind. The inputs in seeds.json never change; pictures are drawn
// here; with CORPUS set, the folder of real files adds its own.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'

interface SeedFile {
  root: string
  chain: string[]
  others: string[]
  bundle: Record<string, unknown>
  /** base64url of r and s. */
  signature: string
}

const file: SeedFile = JSON.parse(readFileSync(new URL('seeds.json', import.meta.url), 'utf8'))
const der = (text: string) => Buffer.from(text, 'base64')

export const ROOT = der(file.root)
/** Leaf, intermediate. */
export const CHAIN = file.chain.map(der)
/** RSA, P-384 and Ed25519 keys; without extensions; with a critical one. */
export const OTHERS = file.others.map(der)
/** RSA keys whose exponents or moduli make one verification costly: a chain of such, and single ones. */
export const SLOW: readonly Buffer[] = Object.values<string[]>(
  JSON.parse(readFileSync(new URL('rsa-seeds.json', import.meta.url), 'utf8')),
).flatMap((texts) => texts.map(der))
export const BUNDLE = file.bundle
export const SIGNATURE = file.signature

export function pem(bytes: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

/** A body of POST /v1/claims/attest, `media` as given. */
export function attestBody(media: object): object {
  return {
    external_id: 'photo-1',
    claim: {
      reference: 'HOSTILE-1',
      loss_location: { lat: 52.5, lng: 13.4 },
      loss_at: '2026-06-01T09:00:00+02:00',
      line: 'motor',
    },
    media_type: 'image',
    media,
    bundle: { ...BUNDLE, session_nonce: 'a'.repeat(43), device_id: `dev_test_${'0'.repeat(26)}` },
    certificate_chain: CHAIN.map((one) => one.toString('base64')),
    signature: { alg: 'ES256', value: SIGNATURE },
  }
}

export type ImageType = 'jpeg' | 'png' | 'webp' | 'avif' | 'tiff'
export const IMAGE_TYPES: readonly ImageType[] = ['jpeg', 'png', 'webp', 'avif', 'tiff']

const TAGS = {
  IFD0: { Make: 'Acme', Model: 'Phone 1', Software: 'Camera 2.1' },
  IFD2: { DateTimeOriginal: '2026:06:01 12:00:00', SubSecTimeOriginal: '120', OffsetTimeOriginal: '+02:00' },
}

/** Small pictures with EXIF and without, a plain one and a noisy one. From pixels: the service's own sharp opens no drawing. */
export async function makeImages(type: ImageType): Promise<Buffer[]> {
  const side = 40
  const noise = Buffer.from(Array.from({ length: side * side * 3 }, (_, index) => (index * 7_919) % 251))
  const draw = (pixels: Buffer) => sharp(pixels, { raw: { width: side, height: side, channels: 3 } })
  return Promise.all([
    draw(noise).withExif(TAGS).toFormat(type).toBuffer(),
    draw(Buffer.alloc(noise.length, 90)).toFormat(type).toBuffer(),
  ])
}

/** The first boxes of an MP4 and of a QuickTime file, and the head of a WebM: all that is read of videos. */
export const VIDEOS: Record<'mp4' | 'quicktime' | 'webm', Buffer> = {
  mp4: Buffer.concat([
    Buffer.from('0000001c6674797069736f6d0000020069736f6d69736f3261766331', 'hex'),
    Buffer.from('000000106d6f6f760000000866726565', 'hex'),
  ]),
  quicktime: Buffer.from('0000001466747970717420200000000071742020000000086d6f6f76', 'hex'),
  webm: Buffer.from(
    '1a45dfa39f4286810142f7810142f2810442f381084282847765626d42878104428581021853806701ffffffffffffff',
    'hex',
  ),
}

/** Real files below `folder` of the corpus whose names end so; none without CORPUS. */
export function corpusFiles(folder: string, ending: RegExp, maxBytes = 4 * 1024 * 1024): Buffer[] {
  const corpus = process.env.CORPUS
  if (!corpus || !existsSync(join(corpus, folder))) return []
  return readdirSync(join(corpus, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .sort()
    .map((name) => readFileSync(join(corpus, folder, name)))
    .filter(({ length }) => length <= maxBytes)
}

/** The certificates of the real chains in the corpus. */
export function corpusCertificates(): Buffer[] {
  return corpusFiles('android-attestation', /\.pem$/).flatMap((text) =>
    [...text.toString('latin1').matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END/g)].map(([, base64 = '']) =>
      der(base64),
    ),
  )
}
