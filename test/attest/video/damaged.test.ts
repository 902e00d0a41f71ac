import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, expect, it } from 'vitest'
import { createReadVideo } from '#src/attest/claims/video-facts.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { createDiskStore } from '#src/platform/store/disk.ts'
import { joinChunks, makeVideoManifest, recordVideo } from '../../../capture-kit/video.ts'

const root = mkdtempSync(join(tmpdir(), 'countersign-video-'))
afterAll(() => rmSync(root, { recursive: true }))

const NONCE = 'A'.repeat(43)
const scope = { accountId: 'acc_0000000000000000000000000a', environment: 'sandbox' } as const

it('the check reads the bytes of a video once, however many chunks it has', async () => {
  const disk = createDiskStore({ root })
  const recording = recordVideo({ seed: 2, chunks: 10_000, chunkMs: 100 })
  const { sha256 } = await disk.put(scope, Readable.from([joinChunks(recording)]), { maxBytes: 64 * 1024 * 1024 })
  let opened = 0
  const store: Pick<BlobStore, 'openRead'> = {
    openRead(...args) {
      opened += 1
      return disk.openRead(...args)
    },
  }
  const db: Pick<Database, 'tenant'> = { tenant: () => Promise.reject(new Error('an upload has no stream')) }
  const video = await createReadVideo({ db, store })(
    { scope, signal: new AbortController().signal },
    {
      submission: {
        media_type: 'video',
        bundle: { video_manifest: makeVideoManifest(NONCE, recording), session_nonce: NONCE },
      } as never,
      mediaSha256: Buffer.from(sha256, 'hex'),
      mediaContentType: 'video/mp4',
    },
  )
  expect(video).toMatchObject({
    received: { chunks: 10_000, missing: null },
    chain: { verifiedLinks: 10_000, digest: null },
    footage: { fragments: 10_000, chunkStart: null, chunkFrames: null },
  })
  expect(opened).toBe(1)
  // The number of chunks does not matter: none of their bytes are kept.
  expect(JSON.stringify(video).length).toBeLessThan(2_000)
})

it('the check blames no device for bytes that the store has damaged', async () => {
  const store = createDiskStore({ root })
  const recording = recordVideo({ seed: 1, chunks: 3 })
  const file = joinChunks(recording)
  const { sha256 } = await store.put(scope, Readable.from([file]), { maxBytes: file.length })
  const db: Pick<Database, 'tenant'> = { tenant: () => Promise.reject(new Error('an upload has no stream')) }
  const readVideo = createReadVideo({ db, store })
  const read = () =>
    readVideo(
      { scope, signal: new AbortController().signal },
      {
        submission: {
          media_type: 'video',
          bundle: { video_manifest: makeVideoManifest(NONCE, recording), session_nonce: NONCE },
        } as never,
        mediaSha256: Buffer.from(sha256, 'hex'),
        mediaContentType: 'video/mp4',
      },
    )
  expect(await read()).not.toBeNull()

  const damaged = Buffer.from(file)
  damaged.writeUInt8(damaged.readUInt8(file.length - 1) ^ 1, file.length - 1)
  writeFileSync(store.path(scope, sha256), damaged)
  await expect(read()).rejects.toThrow('don’t match their SHA-256')
  writeFileSync(store.path(scope, sha256), Buffer.concat([file, Buffer.from('more')]))
  await expect(read()).rejects.toThrow('don’t match their SHA-256')
})
