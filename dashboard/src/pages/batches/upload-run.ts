// Uploads the files of a folder and submits them as one batch. Each file that is done is recorded, so that a run which
// broke off goes on: what was uploaded is not sent again.

import type { BatchLine } from '@countersign/client'
import { CountersignError } from '@countersign/client'
import type { Client } from '../../recipe/list-page.tsx'
import type { ClaimChoice, FileRecord, UploadPlan, UploadStore } from './upload-store.ts'

/** A batch takes no more lines. */
export const MAX_FILES = 10_000
// Four fill a line with the round trips of another continent, and leave the service its other callers.
const UPLOADS_AT_ONCE = 4
// A service that restarts is back within a minute.
const UPLOAD_RETRIES = 6
const UPLOAD_TIMEOUT_MS = 30 * 60_000
// A browser holds in memory what it hashes.
const MAX_HASHED_BYTES = 256 * 2 ** 20
const MAX_EXTERNAL_ID = 255

const TYPES: Record<string, string> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  heic: 'image/heic',
  avif: 'image/avif',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
}

export interface Progress {
  /** Files that are uploaded or refused. */
  done: number
  refused: number
  total: number
  sentBytes: number
  totalBytes: number
}

interface UploadOptions {
  client: Client
  store: UploadStore
  plan: UploadPlan
  files: readonly File[]
  signal: AbortSignal
  onProgress(progress: Progress): void
}

/** The type by the name of a file; undefined: it is neither a photo nor a video. */
export function typeOf({ name }: Pick<File, 'name'>): string | undefined {
  return TYPES[name.slice(name.lastIndexOf('.') + 1).toLowerCase()]
}

export function pathOf(file: File): string {
  return file.webkitRelativePath === '' ? file.name : file.webkitRelativePath
}

/**
 * Uploads what is not uploaded yet. @returns a record for each file, in the order of their paths.
 * @throws {CountersignError} when the service can't be reached any more, or the session is over: what is done stays done.
 */
export async function uploadFiles(options: UploadOptions): Promise<FileRecord[]> {
  const { store, plan, signal, onProgress } = options
  const files = options.files.toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1))
  const known = await store.findFiles(plan.scope)
  const records: FileRecord[] = []
  const sending = new Map<File, number>()
  const progress: Progress = {
    done: 0,
    refused: 0,
    total: files.length,
    sentBytes: 0,
    totalBytes: files.reduce((sum, { size }) => sum + size, 0),
  }
  let endedBytes = 0
  const tell = () => {
    progress.sentBytes = endedBytes + [...sending.values()].reduce((sum, bytes) => sum + bytes, 0)
    onProgress({ ...progress })
  }
  const one = async (file: File, position: number) => {
    const print = await printOf(file)
    const former = known.get(print)
    const record =
      former?.media === undefined
        ? await upload(file, print, options, (bytes) => {
            sending.set(file, bytes)
            tell()
          })
        : { ...former, path: pathOf(file) }
    if (former?.media === undefined) await store.saveFile(record)
    records[position] = { ...record, key: '' }
    sending.delete(file)
    endedBytes += file.size
    progress.done += 1
    if (record.refusal !== undefined) progress.refused += 1
    tell()
  }
  tell()
  const waiting = files.entries()
  await Promise.all(
    Array.from({ length: UPLOADS_AT_ONCE }, async () => {
      // The iterator is shared: each worker takes the file after the last one that any of them took.
      for (const [position, file] of waiting) {
        signal.throwIfAborted()
        await one(file, position)
      }
    }),
  )
  return records
}

async function upload(
  file: File,
  print: string,
  { client, plan, signal }: UploadOptions,
  onSent: (bytes: number) => void,
): Promise<Omit<FileRecord, 'key'>> {
  const record = { scope: plan.scope, print, path: pathOf(file), at: Date.now() }
  const contentType = typeOf(file)
  if (contentType === undefined) {
    return { ...record, refusal: { code: 'not_media', detail: 'By its name it is neither a photo nor a video.' } }
  }
  const digest = digestOf(print)
  try {
    const { mediaId, contentType: found } = await client.media.upload(
      file,
      { contentType: contentType as 'image/jpeg', ...(digest === undefined ? {} : { contentDigest: digest }) },
      {
        signal,
        maxRetries: UPLOAD_RETRIES,
        timeoutMs: UPLOAD_TIMEOUT_MS,
        onProgress: ({ sentBytes }) => onSent(sentBytes),
      },
    )
    return { ...record, media: { mediaId, isVideo: found.startsWith('video/') } }
  } catch (error) {
    if (!(error instanceof CountersignError) || !isAboutFile(error)) throw error
    return { ...record, refusal: { code: error.code, detail: error.errors[0]?.detail ?? error.detail } }
  }
}

/** Whether another file might be taken: the others of the folder are sent then. */
function isAboutFile({ status }: CountersignError): boolean {
  return status === 400 || status === 409 || status === 413 || status === 415 || status === 422
}

const PRINT = /^[0-9a-f]{64}$/

/** Pages without TLS have no hash functions, but on localhost. */
async function printOf(file: File): Promise<string> {
  const { subtle } = globalThis.crypto
  if (subtle === undefined || file.size > MAX_HASHED_BYTES) return `${pathOf(file)}|${file.size}|${file.lastModified}`
  const hash = new Uint8Array(await subtle.digest('SHA-256', await file.arrayBuffer()))
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

// RFC 9530: the service refuses bytes that were damaged on their way.
function digestOf(print: string): string | undefined {
  if (!PRINT.test(print)) return undefined
  const bytes = print.match(/../g)?.map((pair) => Number.parseInt(pair, 16)) ?? []
  return `sha-256=:${btoa(String.fromCharCode(...bytes))}:`
}

/** The lines of the batch for what was uploaded, with the source of each. */
export function linesOf(
  records: readonly FileRecord[],
  choice: ClaimChoice,
): { lines: BatchLine[]; sources: string[] } {
  const uploaded = records.flatMap(({ media, ...record }) => (media === undefined ? [] : [{ ...record, media }]))
  const lines = uploaded.map(({ path, print, media }): BatchLine => {
    const reference = referenceOf(path, choice)
    const claim = {
      ...(reference === undefined ? {} : { reference }),
      ...(choice.line === '' ? {} : { line: choice.line }),
    }
    return {
      // The same photo for the same claim is the same submission, however often the folder is sent.
      externalId: `${print} ${reference ?? ''}`.trim().slice(0, MAX_EXTERNAL_ID),
      ...(Object.keys(claim).length === 0 ? {} : { claim }),
      mediaType: media.isVideo ? 'video' : 'image',
      media: { mediaId: media.mediaId },
    }
  })
  return { lines, sources: uploaded.map(({ path }) => path) }
}

function referenceOf(path: string, { by, reference }: ClaimChoice): string | undefined {
  const parts = path.split('/')
  const file = parts.at(-1) ?? path
  if (by === 'one') return reference
  if (by === 'folder') return parts.at(-2) ?? file
  if (by === 'none') return undefined
  const dot = file.lastIndexOf('.')
  return dot > 0 ? file.slice(0, dot) : file
}

/** A key that the same lines of the same upload always have: a submission whose answer was lost is not a second batch. */
export function keyOfBatch(lines: readonly unknown[], startedAt: number): string {
  // FNV-1a, as pages without TLS have no other hash.
  let hash = 0x811c9dc5
  for (const character of JSON.stringify(lines)) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return `upload_${startedAt}_${lines.length}_${(hash >>> 0).toString(16)}`
}

/** The values of an NDJSON file, each with its line; lines that are no JSON are refused here. */
export function readLines(text: string): { lines: BatchLine[]; sources: string[]; refused: number[] } {
  const lines: BatchLine[] = []
  const sources: string[] = []
  const refused: number[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    try {
      lines.push(JSON.parse(line) as BatchLine)
      sources.push(`line ${index + 1}`)
    } catch {
      refused.push(index + 1)
    }
  }
  return { lines, sources, refused }
}
