// What the kinds of media cost a worker: photos with a C2PA manifest, and videos; its memory after 10,000 of all kinds;
// and what hostile files cost the claims beside them.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { deflateSync } from 'node:zlib'
import type { AttestBody, Media } from '../capture-kit/device.ts'
import { PLACES } from '../capture-kit/stock.ts'
import { joinChunks, makeVideoManifest, recordVideo } from '../capture-kit/video.ts'
import { makeC2paSigner } from '../test/attest/media/c2pa-signing.ts'
import { pngWith, webpWith } from '../test/attest/media/headers.ts'
import { createPhotographer, renamed } from './captures.ts'
import { judgeLimit, judgeRatio, median, note, type Options, percentile, type Verdict } from './harness.ts'
import type { Process } from './processes.ts'
import { type FloorKind, openSettling, type Settled, type Settling } from './settling.ts'
import { openStage, type Stage } from './stage.ts'

const COUNTS = { photo: 600, c2pa: 200, video: 100 } satisfies Record<FloorKind, number>
const CHUNKS = 10
const CHUNK_BYTES = 1_000_000
const MIXED = 10_000
const MAX_GROWTH_MB = 30
const SAMPLE_MS = 200
/** Well below what a worker settles, so that a claim that waits does so for a hostile file and not for its turn. */
const PER_SECOND = 20
const STEADY = 600
const MAX_P99_FACTOR = 1.5

type Signer = Awaited<ReturnType<typeof makeC2paSigner>>

interface HostileFiles {
  hostile: Buffer[]
  stuck: Buffer[]
}

type Make = (count: number) => Promise<AttestBody[]>

export async function runAttestMedia(options: Options): Promise<Verdict[]> {
  const isAsked = (...names: string[]) => options.part === undefined || names.includes(options.part)
  const signer = await makeC2paSigner()
  // Made before anything listens: making them blocks this thread for longer than a connection is kept.
  const files = isAsked('memory', 'hostile') ? await hostileFiles(signer) : { hostile: [], stuck: [] }
  const stage = await openStage({ redis: true })
  const settling = await openSettling(stage, options)
  try {
    const part = (count: number) => (options.isQuick ? Math.ceil(count / 20) : count)
    const make = await createMakers(settling, signer, files)
    const verdicts: Verdict[] = []
    for (const kind of ['photo', 'c2pa', 'video'] as const) {
      if (!isAsked(kind)) continue
      const floors: Settled[] = []
      const own: Settled[] = []
      const count = part(COUNTS[kind])
      for (let round = -1; round < options.rounds; round += 1) {
        const floor = await settling.floor(kind, await make[kind](count))
        const ours = await settling.ours(1, await make[kind](count), await make[kind](count))
        if (round >= 0) floors.push(floor)
        if (round >= 0) own.push(ours)
      }
      verdicts.push(
        judgeRatio({
          name: `attest-media, ${kind}`,
          unit: 'claims/s',
          floor: { label: `${(floors[0]?.processorMs ?? 0).toFixed(1)} ms each` },
          ours: { label: `one worker, ${(own[0]?.processorMs ?? 0).toFixed(1)} ms of its processor time each` },
          floors: floors.map(({ rate }) => rate),
          own: own.map(({ rate }) => rate),
          bar: 0,
        }),
      )
    }
    if (isAsked('memory')) verdicts.push(await judgeMemory(settling, make, part(MIXED)))
    if (isAsked('hostile')) {
      verdicts.push(await judgeHostile({ stage, settling, make, count: part(STEADY), rounds: options.rounds }))
    }
    verdicts.push(
      note('attest-media', `${stage.redisUrl === undefined ? 'Postgres' : 'Redis'} engine, videos of 10 MB`),
    )
    return verdicts
  } finally {
    await settling.close()
    await stage.close()
  }
}

interface Makers extends Record<FloorKind, Make> {
  /** Files that a worker finishes in two seconds at most. */
  hostile: Make
  /** Also a file whose manifest is never finished: its whole time runs out, twice. */
  worst: Make
}

async function createMakers(
  { client, take, device, deviceId }: Settling,
  signer: Signer,
  { hostile, stuck }: HostileFiles,
): Promise<Makers> {
  const photographer = await createPhotographer()
  const repeat =
    (captures: readonly AttestBody[]): Make =>
    async (count) =>
      Array.from({ length: count }, (_, index) => captures[index % captures.length]).flatMap((one) =>
        one === undefined ? [] : [renamed(one)],
      )
  const captureOf = async (photo: Buffer, more: Partial<Parameters<typeof device.capture>[0]> = {}) => {
    const media: Media = more.media ?? { media_id: (await client.upload(photo, typeOf(photo))).media_id }
    const { lat, lng } = PLACES[0]
    return device.capture({
      photo,
      capturedAt: new Date(Date.now() - 60_000),
      media,
      gps: { lat, lng, accuracy_m: 5, mock: false },
      biometric: { gated: true, method: 'face' },
      deviceId,
      claim: { loss_location: { lat, lng }, line: 'auto' },
      ...more,
    })
  }
  const signed = await Promise.all(
    [1, 2, 3, 4, 5].map(async (index) => captureOf(await signer.sign(photographer.shoot(index).photo, 'image/jpeg'))),
  )
  const captured = await Promise.all(hostile.map((file) => captureOf(file)))
  const capturedStuck = await Promise.all(stuck.map((file) => captureOf(file)))
  const recording = recordVideo({ seed: 1, chunks: CHUNKS, chunkBytes: CHUNK_BYTES })
  const video = joinChunks(recording)
  const { media_id } = await client.upload(video, 'video/mp4')

  return {
    photo: repeat(await take(20)),
    c2pa: repeat(signed),
    // Each has its own nonce, and so its own chain and signature; the file is the same.
    async video(count) {
      const sessions = await client.openSessions(count)
      return Promise.all(
        sessions.map(async ({ session_nonce: sessionNonce }) =>
          renamed(
            await captureOf(video, {
              media: { media_id },
              sessionNonce,
              capturedAt: new Date(Date.now() + 60_000),
              videoManifest: makeVideoManifest(sessionNonce, recording),
            }),
          ),
        ),
      )
    },
    hostile: repeat(captured),
    worst: repeat([...capturedStuck, ...captured]),
  }
}

/**
 * A manifest over 60 MB, one that was changed, one of 2,000 assertions (the time grows with their square) and one over
 * 60 ingredients; a truncated picture with ten megabytes behind it; texts that expand to two gigabytes; and a hundred
 * thousand frames.
 */
async function hostileFiles(signer: Signer): Promise<HostileFiles> {
  const { photo } = (await createPhotographer({ isSmall: true })).shoot(1)
  const withAssertions = (count: number) =>
    signer.sign(photo, 'image/jpeg', {
      assertions: Array.from({ length: count }, (_, index) => ({ label: `org.example.a${index}`, data: { index } })),
    })
  const large = await signer.sign(Buffer.concat([photo, randomBytes(60_000_000)]), 'image/jpeg')
  const changed = await signer.sign(photo, 'image/jpeg')
  const at = changed.indexOf('c2pa.claim') + 200
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
  const ingredients = []
  for (let index = 0; index < 60; index += 1) {
    ingredients.push({ bytes: await signer.sign(photo, 'image/jpeg', { title: `part ${index}` }), mime: 'image/jpeg' })
  }
  const composed = await signer.sign(photo, 'image/jpeg', { ingredients })
  const cut = Buffer.concat([photo.subarray(0, photo.length / 2), Buffer.alloc(10_000_000, 0xff)])
  const bomb = Buffer.concat([Buffer.from('Comment\0\0'), deflateSync(Buffer.alloc(50_000_000))])
  const texts = pngWith(Array.from({ length: 40 }, () => ['zTXt', bomb]))
  const frames = await webpWith(Array.from({ length: 100_000 }, () => ['ANMF', Buffer.alloc(24)]))
  return {
    hostile: [texts, await withAssertions(2_000), frames, large, composed, changed, cut],
    stuck: [await withAssertions(8_000)],
  }
}

const typeOf = (photo: Buffer): string =>
  photo[0] === 0x89 ? 'image/png' : photo[0] === 0x52 ? 'image/webp' : 'image/jpeg'

/**
 * Resident memory of the worker: the median of what it has while it settles each tenth of the claims, of the last three
 * tenths above that of the three after the first. At one moment it is 50 MB more or less, since a garbage collection may
 * be due and the next file may be one of 60 MB.
 */
async function judgeMemory(settling: Settling, make: Makers, count: number): Promise<Verdict> {
  return settling.withWorkers(1, async ([worker]) => {
    const step = Math.ceil(count / 10)
    const sizes: number[] = []
    for (let done = 0; done < count; done += step)
      sizes.push(await residentWhile(worker, settling, await mixOf(make, step)))
    return judgeLimit({
      name: `attest-media, memory over ${count.toLocaleString('en')} mixed claims`,
      label: 'more in the last tenths than after the first',
      unit: 'MB',
      values: [median(sizes.slice(-3)) - median(sizes.slice(1, 4))],
      max: MAX_GROWTH_MB,
      beside: `in each tenth ${sizes.map((size) => size.toFixed(0)).join(', ')} MB`,
    })
  })
}

async function residentWhile(
  worker: Process | undefined,
  settling: Settling,
  bodies: readonly AttestBody[],
): Promise<number> {
  const sizes = [residentMb(worker)]
  const timer = setInterval(() => sizes.push(residentMb(worker)), SAMPLE_MS)
  try {
    await settling.settle([...bodies])
    return median(sizes)
  } finally {
    clearInterval(timer)
  }
}

// Mostly photos; a tenth with a manifest, a fiftieth videos, a hundredth hostile.
async function mixOf(make: Makers, count: number): Promise<AttestBody[]> {
  const c2pa = await make.c2pa(Math.ceil(count / 10))
  const videos = await make.video(Math.ceil(count / 50))
  const hostile = hostileNames(await make.hostile(Math.ceil(count / 100)))
  const others = [...c2pa, ...videos, ...hostile]
  const photos = await make.photo(Math.max(1, count - others.length))
  const between = Math.max(1, Math.floor(photos.length / others.length))
  return [...others.flatMap((one) => [one, ...photos.splice(0, between)]), ...photos]
}

async function judgeHostile({
  stage,
  settling,
  make,
  count,
  rounds,
}: {
  stage: Stage
  settling: Settling
  make: Makers
  count: number
  rounds: number
}): Promise<Verdict> {
  const p99 = (isHostile: boolean): Promise<number> =>
    settling.withWorkers(1, async () => {
      // The worker loads its C2PA reader with the first manifest: that cost is not due to hostile files.
      await settling.settle([...(await make.photo(100)), ...(await make.c2pa(20))])
      await stage.resume('attest')
      const good = await make.photo(count)
      const bad = hostileNames(await make.worst(Math.ceil(count / 100)))
      const since = new Date()
      const waiting: Promise<unknown>[] = []
      for (const [index, body] of good.entries()) {
        waiting.push(settling.client.attest(body, 30))
        const hostile = isHostile && index % 100 === 50 ? bad.shift() : undefined
        if (hostile !== undefined) waiting.push(settling.client.attest(hostile, 30))
        await delay(1_000 / PER_SECOND)
      }
      await Promise.all(waiting)
      await stage.pause('attest')
      const rows = await stage.owner<{ ms: number }>(
        `SELECT (extract(epoch FROM j.settled_at - a.accepted_at) * 1000)::float8 AS ms FROM attestations a JOIN jobs j ON j.id = a.job_id
         WHERE a.accepted_at >= $1 AND a.external_id NOT LIKE 'hostile%'`,
        [since],
      )
      return percentile(
        rows.map(({ ms }) => ms),
        99,
      )
    })
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    alone.push(await p99(false))
    beside.push(await p99(true))
  }
  return judgeRatio({
    name: 'attest-media, 1 % hostile files',
    unit: 'ms',
    floor: { label: 'p99 of good claims without them' },
    ours: { label: `p99 of good claims at ${PER_SECOND}/s` },
    floors: alone,
    own: beside,
    bar: MAX_P99_FACTOR,
    isTime: true,
  })
}

function hostileNames(bodies: readonly AttestBody[]): AttestBody[] {
  return bodies.map((body) => ({ ...body, external_id: `hostile-${body.external_id}` }))
}

function residentMb(worker: Process | undefined): number {
  const status = readFileSync(`/proc/${worker?.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1_024
}
