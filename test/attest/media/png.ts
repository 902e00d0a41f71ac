// PNG files with chunks of any kind before and behind the picture's data.

import { crc32, deflateSync } from 'node:zlib'

export function chunk(type: string, content: Uint8Array): Buffer {
  const [head, tail] = [Buffer.alloc(8), Buffer.alloc(4)]
  head.writeUInt32BE(content.length)
  head.write(type, 4, 'latin1')
  tail.writeUInt32BE(crc32(Buffer.concat([head.subarray(4), content])))
  return Buffer.concat([head, content, tail])
}

export type RawProfile = 'tEXt' | 'zTXt' | 'iTXt' | 'iTXt compressed'
export const RAW_PROFILES: readonly RawProfile[] = ['tEXt', 'zTXt', 'iTXt', 'iTXt compressed']

/** EXIF as ImageMagick wrote it: digits in lines of 72, behind a name and a length. */
export function profileText(name: string, block: Uint8Array, length = block.length): string {
  const lines =
    Buffer.from(block)
      .toString('hex')
      .match(/.{1,72}/g) ?? []
  return `\n${name}\n${String(length).padStart(8)}\n${lines.join('\n')}\n`
}

export function rawProfile(kind: RawProfile, text: string, keyword = 'Raw profile type exif'): Buffer {
  const [key, plain] = [Buffer.from(`${keyword}\0`, 'latin1'), Buffer.from(text, 'latin1')]
  switch (kind) {
    case 'tEXt':
      return chunk('tEXt', Buffer.concat([key, plain]))
    case 'zTXt':
      return chunk('zTXt', Buffer.concat([key, Buffer.of(0), deflateSync(plain)]))
    case 'iTXt':
      return chunk('iTXt', Buffer.concat([key, Buffer.of(0, 0), Buffer.from('en\0\0'), plain]))
    case 'iTXt compressed':
      return chunk('iTXt', Buffer.concat([key, Buffer.of(1, 0), Buffer.from('en\0\0'), deflateSync(plain)]))
  }
}

/** The PNG with these chunks behind its header or before its end. */
export function withChunks(
  png: Buffer,
  { before = [], after = [] }: { before?: readonly Buffer[]; after?: readonly Buffer[] },
): Buffer {
  const headerEnd = 8 + 25
  const end = png.length - 12
  return Buffer.concat([
    png.subarray(0, headerEnd),
    ...before,
    png.subarray(headerEnd, end),
    ...after,
    png.subarray(end),
  ])
}
