// Path parameters as the OpenAPI document describes them. The pattern tells readers and generators which paths there are, and
// that `/v1/claims/attest` is none of `/v1/claims/{id}`; what is no id is refused by `checkId`, which says what an id looks like.

import { z } from 'zod'
import type { ScopedType } from '#src/platform/ids.ts'

/** The schema of an id in a path: `params: z.object({ id: idParam('clm') })`. */
export function idParam(type: ScopedType) {
  return z.string().meta({
    description: `\`${type}_test_\` or \`${type}_live_\` and 26 characters.`,
    pattern: `^${type}_(?:test|live)_[0-7][0-9a-hjkmnp-tv-z]{25}$`,
  })
}

/** Of a path whose one parameter is `:id`. */
export function idParams(type: ScopedType) {
  return z.object({ id: idParam(type) })
}
