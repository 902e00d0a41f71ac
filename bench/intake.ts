// Uploads of photos to the store, and what a large file costs in memory.

import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createPhotographer } from './captures.ts'
import { compare, judgeLimit, note, type Options, type Verdict } from './harness.ts'
import { check, once, openConnection, requestOf } from './load.ts'
import { peakMemory, startProcess } from './processes.ts'
import { openStage } from './stage.ts'

const PHOTOS = 160
const AT_ONCE = 8
const MAX_GROWTH_MB = 30
const SMALL_BYTES = 10_000_000
const LARGE_BYTES = 1_000_000_000

export async function runIntake(options: Options): Promise<Verdict[]> {
  const stage = await openStage()
  const floorDirectory = join(stage.directory, 'floor')
  const blobs = join(stage.directory, 'blobs')
  const web = await startProcess('workers/web.ts', stage.environment, options)
  const floor = await startProcess('bench/floors/intake.ts', { FLOOR_DIRECTORY: floorDirectory }, options)
  try {
    const { shoot } = await createPhotographer()
    const { photo } = shoot(1)
    const upload = (contentType: string, contentLength: number) =>
      requestOf({
        method: 'POST',
        path: '/v1/media',
        key: stage.key,
        headers: { 'Content-Type': contentType },
        contentLength,
      })
    const rateOf = async (port: number): Promise<number> => {
      // The same picture with different bytes after its end: a new file each time, at no cost for the measuring
      // process.
      const tail = 16
      const head = upload('image/jpeg', photo.byteLength + tail)
      let left = options.isQuick ? AT_ONCE * 2 : PHOTOS
      const count = left
      const connections = await Promise.all(Array.from({ length: AT_ONCE }, () => openConnection(port)))
      const startedAt = performance.now()
      await Promise.all(
        connections.map(async (connection) => {
          while (left > 0) {
            left -= 1
            check(await connection.send([head, photo, randomBytes(tail)]), 200)
          }
          connection.close()
        }),
      )
      const rate = count / ((performance.now() - startedAt) / 1_000)
      for (const folder of [floorDirectory, join(blobs, stage.scope.accountId)]) removeContents(folder)
      return rate
    }
    const verdict = await compare({
      name: 'intake',
      unit: 'photos/s',
      floor: { label: 'SHA-256 and a durable write', run: () => rateOf(floor.port) },
      ours: { label: `POST /v1/media, ${(photo.byteLength / 1e6).toFixed(1)} MB`, run: () => rateOf(web.port) },
      bar: 0.8,
      rounds: options.rounds,
    })

    const video = async (bytes: number) => {
      const piece = Buffer.alloc(1_000_000)
      // A new file each time, and an MP4 by its first box.
      const first = Buffer.concat([
        Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1'),
        randomBytes(1_000_000 - 24),
      ])
      await once(
        web.port,
        [upload('video/mp4', bytes), first, ...Array.from({ length: bytes / 1_000_000 - 1 }, () => piece)],
        200,
      )
    }
    const large = options.isQuick ? LARGE_BYTES / 10 : LARGE_BYTES
    await video(SMALL_BYTES)
    const growths: number[] = []
    for (let round = 0; round < options.rounds; round += 1) {
      const few = await peakMemory(web.pid, () => video(SMALL_BYTES))
      const many = await peakMemory(web.pid, () => video(large))
      if (few !== undefined && many !== undefined) growths.push(many - few)
      removeContents(join(blobs, stage.scope.accountId))
    }
    return [
      verdict,
      growths.length === 0
        ? note('intake, memory', 'not measured: this system does not tell the peak of a process')
        : judgeLimit({
            name: 'intake, memory',
            label: `peak of web with a file of ${large / 1e6} MB above that with ${SMALL_BYTES / 1e6} MB`,
            unit: 'MB',
            values: growths,
            max: MAX_GROWTH_MB,
          }),
    ]
  } finally {
    await Promise.all([web.stop(), floor.stop()])
    await stage.close()
  }
}

// Folders stay: the store has synced them, and does not check them again.
function removeContents(folder: string): void {
  if (!existsSync(folder)) return
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) rmSync(join(entry.parentPath, entry.name))
  }
}
