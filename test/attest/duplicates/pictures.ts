// Pictures that differ from each other: a few dozen colours from a seed, enlarged until they resemble hills and sky.

import sharp from 'sharp'

const COARSE = { width: 9, height: 7, channels: 3 } as const

/** The same seed gives the same pixels. */
export async function drawPicture(seed: number, { width = 320, height = 240 } = {}): Promise<Buffer> {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0
  const dots = Uint8Array.from({ length: COARSE.width * COARSE.height * 3 }, () => {
    // The generator of Numerical Recipes: random enough for colours.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  })
  const image = sharp(dots, { raw: COARSE }).resize(width, height, { fit: 'fill', kernel: 'cubic' })
  return image.jpeg({ quality: 92 }).toBuffer()
}

export function recompress(photo: Buffer, quality = 60): Promise<Buffer> {
  return sharp(photo).jpeg({ quality }).toBuffer()
}

/** The same picture at a glance: a mark of bright and dark in one place, which hardly changes the low frequencies. */
export async function markPicture(photo: Buffer): Promise<Buffer> {
  const { data, info } = await sharp(photo).raw().toBuffer({ resolveWithObject: true })
  const side = Math.round(info.width / 8)
  for (let y = side; y < 2 * side; y += 1) {
    for (let x = side; x < 2 * side; x += 1) {
      const change = Math.floor((4 * x) / side) % 2 === 0 ? 60 : -60
      for (let channel = 0; channel < info.channels; channel += 1) {
        const index = (y * info.width + x) * info.channels + channel
        data[index] = Math.max(0, Math.min(255, (data[index] ?? 0) + change))
      }
    }
  }
  const { width, height, channels } = info
  return sharp(data, { raw: { width, height, channels } }).jpeg({ quality: 92 }).toBuffer()
}
