// The only place of the service that loads sharp. libvips can open dozens of formats through as many parsers; a
// stranger's file gets to five of them. The settings are the whole process's, worker threads included.

import sharp, { type Sharp } from 'sharp'

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

/**
 * Opens an image of a stranger. Nothing is read before an output (`metadata`, `toBuffer`) is asked for, and then it
 * rejects for other formats than JPEG, PNG, WebP, HEIF, AVIF and TIFF, for more than `maxPixels` and for damaged data.
 */
export function openImage(input: string | Buffer, { maxPixels }: { maxPixels: number }): Sharp {
  return sharp(input, { limitInputPixels: maxPixels, failOn: 'error', sequentialRead: true })
}
