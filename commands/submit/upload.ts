// Uploads one photo: reads it, hashes it and sends it unchanged.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { digest, inlineData } from './entry.ts'
import { type FileFacts, type Finding, finding, findingOf, readBody } from './files.ts'
import type { Journal, Media } from './journal.ts'
import type { Photo, Service } from './service.ts'

// Larger photos are read twice, once to hash and once to send, so that concurrent uploads need little memory.
const HELD_BYTES = 8 * 1024 * 1024

/** Uploads a photo unless an earlier run did. The same bytes are the same media, so uploading twice does no harm. */
export async function upload(
  photo: FileFacts,
  { service, journal }: { service: Service; journal: Journal },
): Promise<Media | { errors: Finding[] }> {
  const name = nameOf(photo)
  const known = journal.mediaOf(name)
  if (known !== undefined) return known
  try {
    const read = await readPhoto(photo)
    if ('code' in read) return { errors: [read] }
    const answer = await service.upload({ contentType: photo.contentType, size: photo.size, ...read })
    if ('refused' in answer) {
      const { code, detail, errors } = answer.refused
      return { errors: errors.length > 0 ? errors : [finding('/media', code, detail)] }
    }
    const media = { mediaId: answer.value.media_id, digest: read.digest }
    journal.addMedia(name, media)
    return media
  } catch (error) {
    // Also a file that disappears, or becomes unreadable, while it is sent.
    if (error instanceof Error && 'path' in error) return { errors: [findingOf('/media', error)] }
    throw error
  }
}

/** A changed file is another photo. */
export function nameOf({ path, size, modified }: FileFacts): string {
  return digest([path, size, modified])
}

type Content = Pick<Photo, 'digest' | 'open'>

async function readPhoto(photo: FileFacts): Promise<Content | Finding> {
  const { size, mtimeNs } = await stat(photo.path, { bigint: true })
  const isChanged = String(mtimeNs) !== photo.modified || (!photo.isInline && Number(size) !== photo.size)
  if (isChanged) return changed()
  if (photo.isInline) return readInline(photo.path)
  if (photo.size <= HELD_BYTES) {
    const bytes = await readFile(photo.path)
    return bytes.length === photo.size ? held(bytes) : changed()
  }
  const hash = createHash('sha256')
  await pipeline(createReadStream(photo.path), hash)
  // One byte more than declared would break the connection.
  const open = () => createReadStream(photo.path, { end: photo.size - 1, highWaterMark: 256 * 1024 })
  return { digest: hash.digest('base64'), open }
}

async function readInline(path: string): Promise<Content | Finding> {
  const body = await readBody(path)
  const data = Array.isArray(body) ? undefined : inlineData(body.media)
  return data === undefined ? changed() : held(Buffer.from(data, 'base64'))
}

function held(bytes: Buffer): Content {
  return { digest: createHash('sha256').update(bytes).digest('base64'), open: () => bytes }
}

function changed(): Finding {
  return finding('/media', 'changed', 'was changed while it was being submitted: run the command again')
}
