// Parsers of media: the first check on the serving thread, the image library and EXIF in the inspector's thread, as in
// production. Also the answers of receivers, which are untrusted too.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHasher } from '#src/attest/duplicates/hasher.ts'
import { createDecoder } from '#src/attest/media/decoder.ts'
import { judgeDimensions, readDimensions } from '#src/attest/media/dimensions.ts'
import { createInspector } from '#src/attest/media/inspector.ts'
import { MAX_BLOCK_BYTES, readPngMetadata } from '#src/attest/media/png-metadata.ts'
import { isMediaType, MEDIA_TYPES, sniffType } from '#src/attest/media/sniff.ts'
import { isStill } from '#src/attest/media/still.ts'
import { copyTextTags } from '#src/attest/media/tiff.ts'
import { createOutbound } from '#src/platform/net/outbound.ts'
import { chunk, profileText, RAW_PROFILES, rawProfile, withChunks } from '../test/attest/media/png.ts'
import {
  DATE,
  MAKE,
  MODEL,
  number,
  OFFSET,
  SOFTWARE,
  SUBSEC,
  structure,
  text,
  withBlock,
} from '../test/attest/media/structure.ts'
import { holdOneType, makeHead } from './media-heads.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { hold, type Parser } from './parser.ts'
import { corpusFiles, IMAGE_TYPES, makeImages, VIDEOS } from './seeds.ts'

const BLOCK = {
  ifd0: [text(MAKE, 'Acme'), text(MODEL, 'Phone 1'), number(0x0112, 1, 3), text(SOFTWARE, 'Camera 2.1')],
  exif: [text(DATE, '2026:06:01 12:00:00'), text(OFFSET, '+02:00'), text(SUBSEC, '120')],
}
const BLOCKS = [structure(BLOCK), structure(BLOCK, 'MM')]

/** The inspector's own limit is 5 s: a case that it stops is a hang. */
const INSPECTION = { kind: 'wall', ms: 5_000 } as const

// too_large: its header states more pixels than are decoded.
const isRefusal = (code: string) => code === 'unreadable' || code === 'too_large'

export interface MediaParsers {
  parsers: Parser[]
  close(): Promise<void>
}

export async function mediaParsers(): Promise<MediaParsers> {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'))
  // A child is ended in the middle of its work.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'case')
  const inspector = createInspector()
  const decoder = createDecoder({ limitMs: INSPECTION.ms })
  const hasher = createHasher(decoder)
  const outbound = await outboundParser()
  const images = new Map(await Promise.all(IMAGE_TYPES.map(async (type) => [type, await makeImages(type)] as const)))
  const jpegs = images.get('jpeg') ?? []
  const pngs = pngsWithExif(images.get('png')?.[1] ?? Buffer.alloc(0))
  const real = new Map([
    ['jpeg', corpusFiles('.', /\.jpe?g$/i, 500_000)],
    ['png', corpusFiles('.', /\.png$/i, 2_000_000)],
    ['webp', corpusFiles('.', /\.webp$/i)],
    ['avif', corpusFiles('.', /\.avif$/i)],
    ['heic', corpusFiles('.', /\.heic$/i)],
  ])

  function image(name: string, seeds: readonly Buffer[]): Parser {
    return {
      name,
      source: 'attest/media/inspector, attest/media/decoder, attest/duplicates/hasher',
      limit: INSPECTION,
      refusals: ['unreadable', 'no picture', 'no thumbnail'],
      make: (dice) => mutateBytes(seeds, dice, 4 * 1024 * 1024),
      async run(input) {
        writeFileSync(path, input)
        const inspected = await inspector.inspect(path)
        if (!inspected.ok) return inspected.code
        const { format, width, height, exif } = inspected.value
        if (exif.state === 'read') {
          const texts = Object.values(exif).filter((value) => typeof value === 'string')
          hold(
            texts.every((one) => one.length <= 256 && one.isWellFormed() && !/\p{Cc}/u.test(one)),
            'texts can be shown',
          )
        }
        if (format === null || width === null || height === null) return 'no picture'
        const thumbnail = await decoder.thumbnail(path, 320)
        if (thumbnail.ok) hold(Math.max(thumbnail.value.width, thumbnail.value.height) <= 320, 'a thumbnail is small')
        else hold(isRefusal(thumbnail.code), `a thumbnail is made or refused: ${thumbnail.code}`)
        // It decodes as the thumbnail does: a quarter of the files is enough, and keeps the run short.
        const hashed = input.length % 4 === 0 ? await hasher.hash(path) : undefined
        if (hashed?.ok) hold(/^[0-9a-f]{16}$/.test(hashed.value.hash), 'a hash is a hash')
        else if (hashed) hold(isRefusal(hashed.code), `a picture is hashed or refused: ${hashed.code}`)
        return thumbnail.ok ? 'accepted' : 'no thumbnail'
      },
    }
  }

  return {
    parsers: [
      {
        name: 'first look at media',
        source: 'attest/media/sniff, still, sides',
        limit: { kind: 'thread', ms: 50 },
        refusals: ['none', 'animated', 'no sides', 'refused'],
        make: (dice) =>
          dice.once(2)
            ? makeHead(dice, images.get('png')?.[1] ?? Buffer.alloc(0))
            : mutateBytes([...Object.values(VIDEOS), ...[...images.values()].flat()], dice),
        run(input) {
          const type = sniffType(input)
          holdOneType(input, type)
          for (const any of Object.keys(MEDIA_TYPES)) if (isMediaType(any)) readDimensions(any, input)
          if (type === undefined) return 'none'
          if (isStill(type, input) === false) return 'animated'
          const sides = readDimensions(type, input)
          if (sides === undefined) return 'no sides'
          hold(sides.width > 0 && sides.height > 0, 'sides are positive')
          return judgeDimensions(sides) === undefined ? 'accepted' : 'refused'
        },
      },
      {
        name: 'EXIF copy',
        source: 'attest/media/tiff',
        limit: { kind: 'thread', ms: 50 },
        refusals: ['none', 'malformed'],
        make: (dice) => mutateBytes(BLOCKS, dice),
        async run(input) {
          const copied = await copyTextTags({
            size: input.length,
            async read(offset, length) {
              hold(offset >= 0 && length >= 0 && offset + length <= input.length, 'it reads only what is there')
              return input.subarray(offset, offset + length)
            },
          })
          if (copied.state !== 'copied') return copied.state
          hold(copied.block.length <= 8 * 1024, 'the copy is small')
          return 'accepted'
        },
      },
      {
        name: 'EXIF of a PNG',
        source: 'attest/media/png-metadata',
        // In the inspector's thread: 100 MB of small chunks take longer than the serving thread could give.
        limit: { kind: 'thread', ms: 250 },
        refusals: ['none', 'fault'],
        make: (dice) => mutateBytes(pngs, dice, 4 * 1024 * 1024),
        run(input) {
          const { exif: found } = readPngMetadata({
            size: input.length,
            read(offset, length) {
              hold(offset >= 0 && length >= 0 && offset + length <= input.length, 'it reads only what is there')
              return input.subarray(offset, offset + length)
            },
          })
          if (found === undefined) return 'none'
          if ('fault' in found) return 'fault'
          hold(found.block.length <= MAX_BLOCK_BYTES, 'a block is bounded')
          return 'accepted'
        },
      },
      image('EXIF block in a PNG', pngs),
      image(
        'EXIF block in a JPEG',
        BLOCKS.map((block) => withBlock(jpegs[1] ?? Buffer.alloc(0), block)),
      ),
      ...IMAGE_TYPES.map((type) => image(`image: ${type}`, images.get(type) ?? [])),
      ...[...real]
        .filter(([, files]) => files.length > 0)
        .map(([type, files]) => image(`image: ${type}, real files`, files)),
      outbound.parser,
    ],
    async close() {
      await inspector.close()
      await decoder.close()
      await outbound.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** With EXIF in each of the places where it is read, before the picture and behind it. */
function pngsWithExif(png: Buffer): Buffer[] {
  const [block = Buffer.alloc(0)] = BLOCKS
  const profiles = RAW_PROFILES.flatMap((kind) => [
    rawProfile(kind, profileText('exif', block)),
    // Some programs write more behind the profile than its length says, and some less.
    rawProfile(kind, `${profileText('exif', block)}${'00'.repeat(40)}\nmore`),
    rawProfile(kind, profileText('exif', block, block.length + 9)),
  ])
  const chunks = [chunk('eXIf', block), ...profiles]
  return chunks.flatMap((one) => [withChunks(png, { before: [one] }), withChunks(png, { after: [one] })])
}

const ANSWERS = [
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 120\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Trailer: a\r\n\r\n',
  'HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1/\r\nConnection: close\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.0 204 No Content\r\n\r\n',
].map((one) => Buffer.from(one, 'latin1'))

/** The answer of a receiver to a webhook. */
async function outboundParser(): Promise<{ parser: Parser; close(): Promise<void> }> {
  let answer = Buffer.alloc(0)
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(answer))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const outbound = createOutbound({ allow: ['127.0.0.1'] })
  return {
    parser: {
      name: 'answer of a receiver',
      source: 'platform/net/outbound',
      limit: { kind: 'wall', ms: 2_000 },
      refusals: ['reset', 'invalid_response', 'response_too_large', 'timeout', 'connect_failed'],
      make: (dice) => mutateBytes(ANSWERS, dice),
      async run(input) {
        answer = Buffer.from(input)
        const sent = await outbound.send({
          url: `http://127.0.0.1:${port}/hook`,
          account: 'acc_1',
          environment: 'sandbox',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: Buffer.from('{}'),
          timeoutMs: 1_000,
          maxResponseBytes: 4_096,
        })
        if (!sent.ok) return sent.code
        hold(sent.status >= 100 && sent.status <= 999 && sent.body.length <= 4_096, 'an answer is bounded')
        return 'accepted'
      },
    },
    async close() {
      await outbound.close()
      await new Promise((done) => server.close(done))
    },
  }
}
