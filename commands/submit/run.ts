// From a plan to results: photos first, then batches, and results as they arrive, all at the same time. A run that is
// cut short and repeated ends with the same attestations: each line has a name (external_id) that depends on its
// content.

import { setTimeout as sleep } from 'node:timers/promises'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url, sha256Hex } from '#src/platform/crypto/digest.ts'
import type { Entry } from './entry.ts'
import { finding } from './files.ts'
import type { Journal, Outcome, Sending } from './journal.ts'
import type { Plan } from './plan.ts'
import type { Progress } from './progress.ts'
import { type Service, stopped } from './service.ts'
import { nameOf, upload } from './upload.ts'

export interface RunDeps {
  plan: Plan
  journal: Journal
  service: Service
  progress: Progress
  concurrency: number
  batchLines: number
  signal: AbortSignal
  /** Stops the other parts when a part of the run fails. */
  abort(): void
}

interface Line {
  entry: Entry
  text: string
}

// The first batches are small, so that the service has work while photos are still being uploaded.
const FIRST_LINES = 50
// Two chunks are in memory at a time: one being sent, one being made.
const MAX_CHUNK_BYTES = 16 * 1024 * 1024
const POLLED_AT_ONCE = 4
const FIRST_POLL_MS = 200
const LONGEST_POLL_MS = 2_000
// Where a rate limit is near, one request in this many asks for results: the others send.
const REQUESTS_PER_POLL = 10
const MAX_NAME = 200

export async function run(deps: RunDeps): Promise<void> {
  const { plan, journal, service, progress, signal } = deps
  const open: (Sending & { cursor: string | undefined })[] = journal
    .open()
    .map((sending) => ({ ...sending, cursor: undefined }))
  const sent = new Set(open.flatMap(({ keys }) => keys))
  let isAllSent = false

  const parts = await Promise.allSettled([guard(sendAll()), guard(collect())])
  const failures = parts.flatMap((part) => (part.status === 'rejected' ? [part.reason] : []))
  // A part that was only aborted has no failure of its own.
  const failure = failures.find((reason) => reason?.name !== 'AbortError') ?? failures[0]
  if (failure !== undefined) throw failure

  async function guard(part: Promise<void>): Promise<void> {
    try {
      await part
    } catch (error) {
      deps.abort()
      throw error
    }
  }

  async function sendAll(): Promise<void> {
    let posting = Promise.resolve()
    // Awaited below; a failure before that must not count as unhandled.
    posting.catch(() => {})
    for await (const chunk of chunks()) {
      const lines = await uploadAll(chunk)
      await posting
      posting = post(lines)
      posting.catch(() => {})
    }
    await posting
    isAllSent = true
  }

  async function* chunks(): AsyncGenerator<Entry[], void> {
    let chunk: Entry[] = []
    let bytes = 0
    let most = Math.min(FIRST_LINES, deps.batchLines)
    for await (const entry of plan.entries()) {
      if (entry.problems.length > 0 || journal.isDone(entry.key)) continue
      if (sent.has(entry.key)) {
        progress.add('uploaded', 1)
        progress.add('sent', 1)
        continue
      }
      const size = JSON.stringify(entry.body).length
      if (chunk.length > 0 && (chunk.length >= most || bytes + size > MAX_CHUNK_BYTES)) {
        yield chunk
        most = Math.min(most * 2, deps.batchLines)
        chunk = []
        bytes = 0
      }
      chunk.push(entry)
      bytes += size
    }
    sent.clear()
    if (chunk.length > 0) yield chunk
  }

  async function uploadAll(chunk: readonly Entry[]): Promise<Line[]> {
    const lines = new Map<Entry, string>()
    const waiting = chunk.values()
    const work = async () => {
      for (const entry of waiting) {
        signal.throwIfAborted()
        const text = await compose(entry)
        progress.add('uploaded', 1)
        if (text === undefined) progress.add('settled', 1)
        else lines.set(entry, text)
      }
    }
    await Promise.all(Array.from({ length: deps.concurrency }, work))
    await journal.sync()
    return chunk.flatMap((entry) => {
      const text = lines.get(entry)
      return text === undefined ? [] : [{ entry, text }]
    })
  }

  async function compose({ key, file, body, photo }: Entry): Promise<string | undefined> {
    if (photo === undefined) return JSON.stringify({ external_id: nameContent(file, canonicalize(body)), ...body })
    const media = await upload(photo, deps)
    if ('errors' in media) {
      journal.addRefusal(key, media.errors)
      return undefined
    }
    const externalId = nameContent(file, `${media.digest}${canonicalize(body)}`)
    return JSON.stringify({ external_id: externalId, ...body, media: { media_id: media.mediaId } })
  }

  async function post(lines: readonly Line[]): Promise<void> {
    if (lines.length === 0) return
    const bytes = Buffer.from(lines.map(({ text }) => `${text}\n`).join(''))
    const answer = await service.submitBatch(bytes, idempotencyKeyOf(bytes, lines))
    const refuse = (line: Line | undefined, errors: Entry['problems']) => {
      if (line === undefined) return
      journal.addRefusal(line.entry.key, errors)
      const isGone = errors.some(({ pointer, code }) => pointer === '/media/media_id' && code === 'not_found')
      if (isGone && line.entry.photo !== undefined) journal.forgetMedia(nameOf(line.entry.photo))
      progress.add('settled', 1)
    }
    if ('refused' in answer) {
      const { status, code, detail, rejected } = answer.refused
      if (status === 413 && lines.length > 1) {
        const half = Math.ceil(lines.length / 2)
        await post(lines.slice(0, half))
        return post(lines.slice(half))
      }
      if (rejected.length === 0 && lines.length > 1)
        throw stopped(`The batch is refused: ${detail} (${status} ${code})`)
      progress.add('sent', lines.length)
      if (rejected.length === 0) refuse(lines[0], [finding('', code, detail)])
      for (const { line, errors } of rejected) refuse(lines[line - 1], errors)
      return
    }
    const { batch_id: batchId, rejected } = answer.value
    const keys = lines.map(({ entry }) => entry.key)
    journal.addBatch({ batchId, keys })
    for (const { line, errors } of rejected) refuse(lines[line - 1], errors)
    await journal.sync()
    progress.add('sent', lines.length)
    open.push({ batchId, keys, cursor: undefined })
  }

  // A cancelled batch is submitted again under a new key: under the same key its replay would answer.
  function idempotencyKeyOf(bytes: Buffer, lines: readonly Line[]): string {
    const cancelled = lines.flatMap(({ entry }) => cancelledOf(journal.read(entry.key)))
    return `submit-${sha256Hex(cancelled.length === 0 ? bytes : Buffer.concat([bytes, Buffer.from(cancelled.join())]))}`
  }

  async function collect(): Promise<void> {
    let pauseMs = FIRST_POLL_MS
    while (!isAllSent || open.length > 0) {
      let arrived = 0
      let polled = 0
      for (const batch of open.splice(0, POLLED_AT_ONCE)) {
        const answer = await service.readResults(batch.batchId, batch.cursor, (line) => {
          const key = batch.keys[line.line - 1]
          batch.cursor = line.cursor
          if (key === undefined || journal.isDone(key)) return
          journal.addResult(key, line)
          progress.add('settled', 1)
          arrived += 1
        })
        if ('refused' in answer) throw stopped(strangerOf(batch.batchId, answer.refused.detail))
        polled += 1
        if (answer.value.is_complete) await finish(batch)
        else open.push(batch)
      }
      if (arrived > 0) await journal.sync()
      const isSlow = arrived === 0 && open.length > 0
      pauseMs = isSlow ? Math.min(pauseMs * 1.5, LONGEST_POLL_MS) : FIRST_POLL_MS
      const sharedMs = isAllSent ? 0 : REQUESTS_PER_POLL * polled * service.intervalMs()
      if (!isAllSent || open.length > 0) await sleep(Math.max(pauseMs, sharedMs), undefined, { signal })
    }
  }

  // Adds the refused lines of a batch that the journal does not have yet.
  async function finish({ batchId, keys }: Sending): Promise<void> {
    if (keys.some((key) => !journal.hasOutcome(key))) {
      const answer = await service.listRejected(batchId)
      if ('refused' in answer) throw stopped(strangerOf(batchId, answer.refused.detail))
      for (const { line, errors } of answer.value) {
        const key = keys[line - 1]
        if (key === undefined || journal.hasOutcome(key)) continue
        journal.addRefusal(key, errors)
        progress.add('settled', 1)
      }
    }
    journal.endBatch(batchId)
  }
}

function cancelledOf(outcome: Outcome | undefined): string[] {
  if (outcome === undefined || 'errors' in outcome || outcome.result.status !== 'cancelled') return []
  return [outcome.result.attestation_id]
}

/** The message for an earlier run's state that does not belong to this account. */
export function strangerOf(batchId: string, detail: string): string {
  return `The batch ${batchId} of an earlier run is not known there (${detail}). Another service or account? Name another --out.`
}

// The name shows the file to readers of the claim; the same file with other content gets another name.
function nameContent(file: string, content: string): string {
  const name = file.slice(-MAX_NAME).replace(/^[\uDC00-\uDFFF]/, '')
  return `${name === '' ? 'capture' : name}#${sha256Base64url(content).slice(0, 22)}`
}
