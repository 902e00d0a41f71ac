// The only place of the service that loads sharp. libvips can open dozens of formats through as many parsers; a
// stranger's file gets to five of them. The settings are the whole process's, worker threads included.

import sharp, { type Sharp } from 'sharp'
import { withSource } from './byte-source.ts'
import { judgeHeader } from './header.ts'

// A cache of operations on media that is seen once costs memory and can mix up a path whose content was replaced.
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

/** The longest side of an image that is accepted. Sharp has no such limit: whoever opens an image compares. */
export const MAX_SIDE_PIXELS = 30_000
/** For reading headers: larger than any camera of today, and decoding is not attempted. */
export const MAX_METADATA_PIXELS = 256e6
/** For decoding: one such image in RGBA takes 256 MB. */
export const MAX_DECODED_PIXELS = 64e6

export const HEADER_REFUSED = Symbol('header refused')

/**
 * Opens an image of a stranger. Of its pixels nothing is read before an output (`metadata`, `toBuffer`) is asked for, and then
 * it rejects for other formats than JPEG, PNG, WebP, HEIF, AVIF and TIFF, for more than `maxPixels` and for damaged data.
 * @throws {Error} caused by `HEADER_REFUSED`, with a sentence that may be shown, when the header asks for too much; and when
 * a file can't be opened.
 */
export function openImage(input: string | Buffer, { maxPixels }: { maxPixels: number }): Sharp {
  const refusal = withSource(input, (source) => judgeHeader(source, { isDecoded: maxPixels <= MAX_DECODED_PIXELS }))
  if (refusal !== undefined) throw new Error(refusal, { cause: HEADER_REFUSED })
  return sharp(input, { limitInputPixels: maxPixels, failOn: 'error', sequentialRead: true })
}
