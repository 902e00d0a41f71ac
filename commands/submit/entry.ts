// Captures as a reader finds them, and as they are sent: the service's own rules check each capture before anything is
// sent.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { judgeLine } from '#src/attest/batches/lines.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { type Environment, newId } from '#src/platform/ids.ts'
import { type FileFacts, type Finding, inlineFacts, isFinding, photoFacts } from './files.ts'

export type Body = { [key: string]: Json }

/** One capture as a reader found it; nothing is checked yet. */
export interface Found {
  /** Its source: a file, or a line of the manifest. */
  source: string
  /** The photo's name for people, relative to the folder. */
  file: string
  /** The photo's path; undefined when the body contains it, or names media that exist already. */
  photo?: string
  /** Body as `POST /v1/claims/attest` accepts it; missing members are filled in. */
  body?: Body
  /** The file of the body, when it is a separate file. */
  bodyPath?: string
  /** The column that gave a value of the body, by its pointer, where it was not the body itself. */
  columns?: ReadonlyMap<string, string>
  problems?: Finding[]
}

/** One capture, ready to be sent, or with its problems. */
export interface Entry {
  source: string
  file: string
  /** The same capture in a later run has the same key; with another photo or body it is another capture. */
  key: string
  photo?: FileFacts
  /** Body without `media`, unless that existed before. */
  body: Body
  problems: Finding[]
}

export interface CheckOptions {
  environment: Environment | undefined
  allowsUnsigned: boolean
}

// These depend on the key and on the service's clock, so the service decides.
const SERVICE_DECIDES = new Set(['environment_mismatch', 'in_future'])

export async function checkFound(found: Found, options: CheckOptions): Promise<Entry> {
  const { source, file } = found
  const problems = [...(found.problems ?? [])]
  const { media, ...rest } = found.body ?? {}
  const given: Body = { media_type: 'image', ...rest }
  const photo = problems.length > 0 ? undefined : await readPhotoFacts(found, media)
  if (photo !== undefined && isFinding(photo)) problems.push(photo)
  if (problems.length === 0 && given.bundle === undefined && !options.allowsUnsigned) {
    problems.push({
      pointer: '/bundle',
      code: 'unsigned',
      detail: 'there is no signed bundle; --allow-unsigned submits it as it is, with the finding no_manifest',
    })
  }
  const isNamed = found.photo === undefined && media !== undefined && inlineData(media) === undefined
  const body = isNamed ? { ...given, media } : given
  // Other problems are reported even if the file is missing.
  if (found.body !== undefined) {
    const told = new Set(problems.map(({ pointer }) => pointer))
    const judged = judgeBody(body, found.columns, options.environment ?? 'sandbox')
    problems.push(...judged.filter(({ pointer }) => !told.has(pointer)))
  }
  const facts = photo === undefined || isFinding(photo) ? undefined : photo
  const key = digest([file, facts?.size ?? null, facts?.modified ?? null, body])
  return { source, file, key, body, problems, ...(facts === undefined ? {} : { photo: facts }) }
}

/**
 * Refuses the second of two captures with one `external_id`, as the service would with a conflict. The same capture twice
 * is one capture.
 */
export function createNameCheck(): (found: Found, entry: Entry) => Entry {
  const named = new Map<string, { file: string; key: string }>()
  return ({ columns }, entry) => {
    const { file, source, key, body, problems } = entry
    if (typeof body.external_id !== 'string' || problems.length > 0) return entry
    const other = named.get(body.external_id)
    if (other === undefined) named.set(body.external_id, { file: file === '' ? source : file, key })
    if (other === undefined || other.key === key) return entry
    const detail = `${body.external_id} names ${other.file} already, and ${file === '' ? source : file} is another capture`
    const pointer = columns?.get('/external_id') ?? '/external_id'
    return { ...entry, problems: [{ pointer, code: 'not_unique', detail }] }
  }
}

/** 96 bits of a hash: enough to tell a million captures apart. */
export function digest(value: Json): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)
}

function judgeBody(body: Body, columns: Found['columns'], environment: Environment): Finding[] {
  const line = JSON.stringify({ media: { media_id: newId('med', environment) }, ...body })
  const verdict = judgeLine(Buffer.from(line), environment, Date.now())
  if ('body' in verdict) return []
  return verdict.errors
    .filter(({ code }) => !SERVICE_DECIDES.has(code))
    .map((error) => ({ ...error, pointer: columns?.get(error.pointer) ?? error.pointer }))
}

async function readPhotoFacts(found: Found, media: Json | undefined): Promise<FileFacts | Finding | undefined> {
  const inline = inlineData(media)
  if (found.photo !== undefined) {
    const facts = await photoFacts(found.photo)
    if (isFinding(facts) || inline === undefined) return facts
    const isSame = Buffer.from(inline, 'base64').equals(await readFile(found.photo))
    return isSame
      ? facts
      : { pointer: '/media/data', code: 'photo_differs', detail: 'is another picture than the file beside it' }
  }
  if (inline !== undefined) {
    if (found.bodyPath !== undefined) return inlineFacts(found.bodyPath, Buffer.from(inline, 'base64'))
    return { pointer: '/media/data', code: 'unsupported', detail: 'a manifest names its photos: {"file": "photo.jpg"}' }
  }
  if (media !== undefined) return undefined
  return { pointer: '/media', code: 'required', detail: `there is no photo beside ${found.file}` }
}

/** The base64 of a photo that is in the body itself. */
export function inlineData(media: Json | undefined): string | undefined {
  if (typeof media !== 'object' || media === null || Array.isArray(media)) return undefined
  return typeof media.data === 'string' ? media.data : undefined
}
