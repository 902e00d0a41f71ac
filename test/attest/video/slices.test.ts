// A long video must not keep the event loop of its worker: captures of other accounts wait in the same process.

import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { examineInSteps, examineVideo } from '#src/attest/video/examine.ts'
import { readPieces } from '#src/attest/video/pieces.ts'
import { runInSlices } from '#src/platform/slices.ts'
import { joinChunks, makeVideoManifest, recordVideo } from '../../../capture-kit/video.ts'

const NONCE = Buffer.alloc(32, 7).toString('base64url')
const CHUNKS = 400
const recording = recordVideo({ seed: 1, chunks: CHUNKS, chunkMs: 100 })
const video = joinChunks(recording)
const manifest = makeVideoManifest(NONCE, recording)
const reading = {
  sizes: recording.map(({ data }) => data.length),
  type: 'video/mp4',
  signal: new AbortController().signal,
}

it('reads a buffer in parts, with a turn for others after each, to the same result', async () => {
  // Padding that a player ignores (ISO/IEC 14496-12 8.1.2) makes the file longer than several parts.
  const free = Buffer.alloc(300 * 1024)
  free.writeUInt32BE(free.length)
  free.write('free', 4, 'ascii')
  const whole = Buffer.concat([video, free])
  let turns = 0
  const slice = {
    isOver: () => true,
    async next() {
      turns += 1
    },
  }
  const inParts = await readPieces(Readable.from([whole]), { ...reading, slice })
  expect(turns).toBe(Math.ceil(whole.length / (64 * 1024)))
  expect(inParts).toEqual(await readPieces(Readable.from([whole]), reading))
  expect(inParts.pieces).toHaveLength(CHUNKS)
})

it('examines the links of a long video in steps, to the same facts', async () => {
  const { bytes, pieces, looseBytes, container, footage } = await readPieces(Readable.from([video]), reading)
  const chunks = pieces.map((piece, index) => ({ ...piece, index, arrivedAtMs: null }))
  const received = { source: 'upload' as const, bytes, chunks, looseBytes, streamNonce: null }
  const examination = { manifest, received, nonce: NONCE, container, footage }
  expect([...examineInSteps(examination)]).toHaveLength(CHUNKS / 50)
  const facts = await runInSlices(examineInSteps(examination))
  expect(facts).toEqual(examineVideo(examination))
  expect(facts.chain).toMatchObject({ verifiedLinks: CHUNKS, link: null, lastLink: null })
})
