// Versions of what PATCH changes. An answer has more than that, such as times of use and labels of actors, so its ETag is
// the version and a digest of the answer: `If-None-Match` compares the whole tag, `If-Match` the version in it. Routes check
// `parseIfMatch(header('If-Match'))` with `checkVersion` of documents.ts, under the lock of the row.

import { z } from 'zod'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import { type Reply, reply } from './endpoint.ts'

/** The member `version` of an answer. */
export const rowVersion = z.number().int().min(1).describe('Counts the changes made by `PATCH`. The `ETag` has it.')

/** Spread into the `headers` of the note of a change. Its `problems` name `precondition_failed`. */
export const IF_MATCH = {
  'If-Match': 'Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one, 412.',
}

// 96 bits: two answers of one version never share a tag by chance.
const DIGEST_CHARACTERS = 16

/** An answer with its ETag, for reads and changes. */
export function replyVersioned<View extends { version: number }>(view: View): Reply<View> {
  const digest = sha256Base64url(JSON.stringify(view)).slice(0, DIGEST_CHARACTERS)
  return reply(200, view, { ETag: `"${view.version}-${digest}"` })
}
