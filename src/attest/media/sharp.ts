// The only file that loads sharp. libvips can open dozens of formats through as many parsers; untrusted files reach
// five of them. The settings apply to the whole process, worker threads included.

import sharp, { type Sharp } from 'sharp'
import { withSource } from './byte-source.ts'
import { judgeHeader } from './header.ts'

export type { Sharp }

// Media is processed once, so a cache of operations only costs memory, and it can return results of a path whose
// content was replaced.
sharp.cache(false)
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: [
    'VipsForeignLoadJpeg',
    'VipsForeignLoadPng',
    'VipsForeignLoadWebp',
    'VipsForeignLoadHeif',
    'VipsForeignLoadTiff',
  ],
})

/** The longest side of an accepted image. Sharp has no such limit: callers that open an image compare. */
export const MAX_SIDE_PIXELS = 30_000
/** For reading headers: larger than any current camera, and nothing is decoded. */
export const MAX_METADATA_PIXELS = 256e6
/** For decoding: one such image in RGBA takes 256 MB. */
export const MAX_DECODED_PIXELS = 64e6
/** For decoding AVIF, whose decoder keeps 20 bytes for each pixel: 730 MB for so many. */
export const MAX_DECODED_AVIF_PIXELS = 36e6
/**
 * What is decoded within some 0.3 s: AVIF takes 30 ms for a megapixel, PNG, TIFF and WebP up to 12, and a JPEG is decoded at an
 * eighth of its size.
 */
const QUICK_PIXELS = { avif: 8e6, jpeg: MAX_DECODED_PIXELS, other: 24e6 }

export const HEADER_REFUSED = Symbol('header refused')
export const TOO_LARGE = Symbol('too many pixels')

/**
 * Opens an untrusted image. It reads no pixels before an output (`metadata`, `toBuffer`) is requested, and then rejects
 * formats other than JPEG, PNG, WebP, HEIF, AVIF and TIFF, more than `maxPixels`, and damaged data.
 * @throws {Error} caused by `HEADER_REFUSED`, with a message that callers may see, when the header exceeds the limits;
 * and when a file can't be opened.
 */
export function openImage(input: string | Buffer, { maxPixels }: { maxPixels: number }): Sharp {
  const refusal = withSource(input, (source) => judgeHeader(source, { isDecoded: maxPixels <= MAX_DECODED_PIXELS }))
  if (refusal !== undefined) throw new Error(refusal, { cause: HEADER_REFUSED })
  return sharp(input, { limitInputPixels: maxPixels, failOn: 'error', sequentialRead: true })
}

/**
 * Opens an untrusted image whose pixels are to be read, and tells from its header whether that takes long.
 * @throws {Error} as `openImage`; caused by `TOO_LARGE`, with a message that callers may see, when it has too many pixels.
 */
export async function openPixels(path: string): Promise<{ image: Sharp; isSlow: boolean }> {
  const image = openImage(path, { maxPixels: MAX_DECODED_PIXELS })
  const header = sharp(path, { limitInputPixels: MAX_METADATA_PIXELS, failOn: 'error' })
  const { width, height, format, compression } = await header.metadata()
  const kind = compression === 'av1' ? 'avif' : format === 'jpeg' ? 'jpeg' : 'other'
  const maxPixels = kind === 'avif' ? MAX_DECODED_AVIF_PIXELS : MAX_DECODED_PIXELS
  if (width * height > maxPixels) {
    const what = kind === 'avif' ? 'An AVIF' : 'An image'
    throw new Error(`${what} of more than ${maxPixels / 1e6} megapixels is not decoded.`, { cause: TOO_LARGE })
  }
  return { image, isSlow: width * height > QUICK_PIXELS[kind] }
}
