// Files of the sender: any problem is possible, and is reported for that file alone.

import { constants } from 'node:fs'
import { type FileHandle, open, readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { MAX_IMAGE_BYTES } from '#src/attest/media/media.ts'
import { MEDIA_TYPES, SNIFF_BYTES, sniffType } from '#src/attest/media/sniff.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import { parseJson } from '#src/platform/crypto/canonical.ts'
import type { Body } from './entry.ts'
import { createNameSearch, type NameSearch } from './names.ts'

export interface FileFacts {
  path: string
  /** Bytes of the photo. */
  size: number
  /** When the file was changed, nanoseconds since 1970. */
  modified: string
  contentType: string
  /** The photo is inside the JSON at `path`. */
  isInline?: true
}

/** What is wrong with a capture, as the service or this command found it. */
export interface Finding extends Omit<FieldError, 'code'> {
  code: string
}

// A body with the largest photo that fits into 20 MiB of JSON, and some more.
const MAX_JSON_BYTES = 32 * 1024 * 1024
const MAX_DEPTH = 32

export function isFinding(value: object | string): value is Finding {
  return typeof value === 'object' && 'code' in value
}

export function finding(pointer: string, code: string, detail: string): Finding {
  return { pointer, code, detail }
}

/** Reads a photo's size and its first bytes. */
export async function photoFacts(path: string): Promise<FileFacts | Finding> {
  let file: FileHandle | undefined
  try {
    // Without O_NONBLOCK opening a named pipe would wait for its writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const facts = await file.stat({ bigint: true })
    if (!facts.isFile()) return finding('/media', 'not_a_file', 'is no ordinary file')
    const { bytesRead, buffer } = await file.read(Buffer.alloc(SNIFF_BYTES), 0, SNIFF_BYTES, 0)
    return describe(path, Number(facts.size), facts.mtimeNs, buffer.subarray(0, bytesRead))
  } catch (error) {
    return findingOf('/media', error)
  } finally {
    await file?.close()
  }
}

/** The same for a photo that is inside a body. */
export async function inlineFacts(bodyPath: string, photo: Buffer): Promise<FileFacts | Finding> {
  const { mtimeNs } = await stat(bodyPath, { bigint: true })
  const facts = describe(bodyPath, photo.length, mtimeNs, photo.subarray(0, SNIFF_BYTES))
  return isFinding(facts) ? facts : { ...facts, isInline: true }
}

/** A JSON object from a file, as strictly as the service reads. */
export async function readBody(path: string): Promise<Body | Finding[]> {
  try {
    const facts = await stat(path)
    if (!facts.isFile()) return [finding('', 'not_a_file', 'is no ordinary file')]
    if (facts.size > MAX_JSON_BYTES) return [finding('', 'too_large', `has more than ${MAX_JSON_BYTES} bytes`)]
    return parseBody(await readFile(path))
  } catch (error) {
    return [findingOf('', error)]
  }
}

export function parseBody(bytes: Uint8Array): Body | Finding[] {
  try {
    const value = parseJson(bytes, { maxBytes: MAX_JSON_BYTES, maxDepth: MAX_DEPTH })
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
    return [finding('', 'invalid_type', 'must be a JSON object')]
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.errors ?? [finding('', error.code, error.message)]
  }
}

/** The path of `name`, in either Unicode form, if it is inside the folder `base` (a real path), links followed. */
export async function resolveInside(
  base: string,
  name: string,
  search: NameSearch = createNameSearch(base),
): Promise<string | Finding> {
  const path = resolve(base, name)
  const real = await realOf(base, path)
  if (!isFinding(real) || real.code !== 'not_found' || !isInside(base, path)) return real
  const other = await search(path)
  if (other === 'ambiguous')
    return finding('/media', 'ambiguous', 'two files have this name in different Unicode forms')
  return other === undefined ? real : realOf(base, other)
}

async function realOf(base: string, path: string): Promise<string | Finding> {
  try {
    const real = await realpath(path)
    // Checked only when the file exists: a name that leads out and a wrong name are different errors.
    return isInside(base, real) ? real : finding('/media', 'outside', `leads out of the folder ${base}`)
  } catch (error) {
    return findingOf('/media', error)
  }
}

export function isInside(base: string, path: string): boolean {
  const way = relative(base, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

export function findingOf(pointer: string, error: unknown): Finding {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const known = REASONS[code]
  if (known !== undefined) return finding(pointer, known[0], known[1])
  if (!/^E[A-Z]+$/.test(code)) throw error
  return finding(pointer, 'unreadable', `can't be read (${code})`)
}

const REASONS: Record<string, [code: string, detail: string]> = {
  ENOENT: ['not_found', 'there is no such file'],
  ENOTDIR: ['not_found', 'there is no such file'],
  EACCES: ['unreadable', 'this user may not read it (EACCES)'],
  EPERM: ['unreadable', 'this user may not read it (EPERM)'],
  ELOOP: ['unreadable', 'its links lead in a circle (ELOOP)'],
  ERR_INVALID_ARG_VALUE: ['not_found', 'there is no such file'],
}

function describe(path: string, size: number, modified: bigint, head: Buffer): FileFacts | Finding {
  if (size === 0) return finding('/media', 'empty_file', 'is empty')
  if (size > MAX_IMAGE_BYTES) return finding('/media', 'too_large', `has more than ${MAX_IMAGE_BYTES} bytes`)
  const contentType = sniffType(head)
  if (contentType === undefined) {
    return finding('/media', 'not_a_photo', 'is no JPEG, PNG, WebP, HEIC, AVIF or TIFF, whatever its name')
  }
  if (MEDIA_TYPES[contentType].kind === 'video') {
    return finding('/media', 'unsupported', 'is a video: submit videos over HTTP, see docs/attest/video.md')
  }
  return { path, size, modified: String(modified), contentType }
}
